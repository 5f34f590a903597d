// SPDX-License-Identifier: Apache-2.0

extension PostgreSQLLedgerDatabase {
    /// Each element makes the next version of the tables: the first one makes version 1. A published element never changes.
    ///
    /// docs/internals/ledger.md describes the tables.
    static let migrations: [[String]] = [
        [
            """
            create table schema_version (
                version integer primary key,
                applied timestamptz not null
            )
            """,
            """
            create table batches (
                id bigint generated always as identity primary key,
                file text not null,
                sha256 text not null,
                deployment text not null,
                account_user text not null,
                created timestamptz not null
            )
            """,
            """
            create table sessions (
                id bigint generated always as identity primary key,
                station text not null,
                expires timestamptz not null
            )
            """,
            """
            create table boards (
                id bigint generated always as identity primary key,
                batch bigint not null references batches (id),
                line bigint not null,
                name text not null,
                address text not null,
                state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
                attempt bigint not null default 0,
                session bigint references sessions (id),
                station text,
                node_id text,
                mac text,
                step text,
                step_state text,
                failure_code integer,
                failure_reason text,
                failure_message text,
                failure_remedy text,
                started timestamptz,
                ended timestamptz,
                unique (batch, line)
            )
            """,
            "create unique index boards_node_id on boards (batch, node_id) where node_id is not null",
            "create unique index boards_mac on boards (batch, mac) where mac is not null",
            "create index boards_open on boards (batch, line) where state in ('waiting', 'running')",
            "create index boards_session on boards (session) where session is not null",
            """
            create table steps (
                id bigint generated always as identity primary key,
                board bigint not null references boards (id),
                attempt bigint not null,
                number bigint not null,
                station text not null,
                event text not null,
                step text,
                state text,
                time timestamptz not null,
                unique (board, attempt, number)
            )
            """,
        ],
        [
            "alter table boards add column place text not null default ''",
            "create index boards_place on boards (place)",
            "alter table sessions add column batch bigint references batches (id)",
        ],
    ]
}
