// SPDX-License-Identifier: Apache-2.0

extension SQLiteLedgerDatabase {
    /// Each element makes the next version of the tables: the first one makes version 1. A published element never changes.
    ///
    /// docs/internals/ledger.md describes the tables.
    static let migrations: [[String]] = [
        [
            """
            create table schema_version (
                version integer primary key,
                applied text not null
            ) strict
            """,
            """
            create table batches (
                id integer primary key autoincrement,
                file text not null,
                sha256 text not null,
                deployment text not null,
                account_user text not null,
                created text not null
            ) strict
            """,
            """
            create table sessions (
                id integer primary key autoincrement,
                station text not null,
                expires text not null
            ) strict
            """,
            """
            create table boards (
                id integer primary key,
                batch integer not null references batches (id),
                line integer not null,
                name text not null,
                address text not null,
                state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
                attempt integer not null default 0,
                session integer references sessions (id),
                station text,
                node_id text,
                mac text,
                step text,
                step_state text,
                failure_code integer,
                failure_reason text,
                failure_message text,
                failure_remedy text,
                started text,
                ended text,
                unique (batch, line)
            ) strict
            """,
            "create unique index boards_node_id on boards (batch, node_id) where node_id is not null",
            "create unique index boards_mac on boards (batch, mac) where mac is not null",
            "create index boards_open on boards (batch, line) where state in ('waiting', 'running')",
            "create index boards_session on boards (session) where session is not null",
            """
            create table steps (
                id integer primary key,
                board integer not null references boards (id),
                attempt integer not null,
                number integer not null,
                station text not null,
                event text not null,
                step text,
                state text,
                time text not null,
                unique (board, attempt, number)
            ) strict
            """,
        ],
        [
            "alter table boards add column place text not null default ''",
            "create index boards_place on boards (place)",
            "alter table sessions add column batch integer references batches (id)",
        ],
    ]
}
