// SPDX-License-Identifier: Apache-2.0

// Package rainkit lets Go programs use librainkit: accounts, provisioning and control of ESP RainMaker boards.
//
// It is a small wrapper to copy into your program and to extend. A call starts an Operation. Its events come on a channel, and Wait returns
// its result, a JSON document. The context of the call cancels it. The comments of rainkit.h describe each call and its document.
package rainkit

/*
#cgo pkg-config: rainkit
#include <rainkit.h>
#include <stdlib.h>

// Wipes and frees a copy of a Go string. The compiler may not leave out writes to volatile bytes.
static void discard(char *memory, size_t length) {
    for (volatile char *byte = memory; length > 0; length--) *byte++ = 0;
    free(memory);
}

static rainkit_string string_of(char *data, size_t length) {
    rainkit_string string = {data, length};
    return string;
}
*/
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Kinds of events.
const (
	Progress = C.RAINKIT_EVENT_PROGRESS
	Page     = C.RAINKIT_EVENT_PAGE     // the user signs in at the url in Document
	Question = C.RAINKIT_EVENT_QUESTION // reply with Operation.Answer
)

// Codes of errors that programs often treat in their own way.
const (
	WrongPoP    = C.RAINKIT_WRONG_POP
	Deadline    = C.RAINKIT_DEADLINE
	Usage       = C.RAINKIT_USAGE
	Unavailable = C.RAINKIT_UNAVAILABLE
	Auth        = C.RAINKIT_AUTH
	Cancelled   = C.RAINKIT_CANCELLED
)

// Stores of sessions.
const (
	StoreAutomatic     = C.RAINKIT_STORE_AUTOMATIC
	StoreFile          = C.RAINKIT_STORE_FILE
	StoreSecretService = C.RAINKIT_STORE_SECRET_SERVICE
	StoreMemory        = C.RAINKIT_STORE_MEMORY
)

// An Error of a call or of an operation.
type Error struct {
	Code     int // an exit code of rainctl
	Reason   string
	Message  string
	Remedy   string
	Step     string
	Document json.RawMessage
}

func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	return text(C.rainkit_code_name(C.int32_t(e.Code)))
}

// Is reports whether the error is that of a context: a cancelled call matches context.Canceled, one that took too long
// context.DeadlineExceeded.
func (e *Error) Is(target error) bool {
	return e.Code == Cancelled && target == context.Canceled || e.Code == Deadline && target == context.DeadlineExceeded
}

// An Event of an operation that still runs.
type Event struct {
	Kind     int
	Name     string
	Document json.RawMessage
	Message  string
	Dropped  uint64
}

// Options of a client. Empty ones have the defaults of rainkit.h.
type Options struct {
	State, Account, Deployment, BaseURL, CAFile string
	Store                                       int
}

// A Client is a user's account at one cloud. Any goroutine may use it.
type Client struct{ handle *C.rainkit_client }

// New creates a client. Close it in the end.
func New(options Options) (*Client, error) {
	strings := &arguments{}
	defer strings.free()
	given := C.rainkit_client_options{
		state: strings.add(options.State), store: C.int32_t(options.Store), account: strings.add(options.Account),
		deployment: strings.add(options.Deployment), base_url: strings.add(options.BaseURL), ca_file: strings.add(options.CAFile),
	}
	given.size = C.sizeof_rainkit_client_options
	client := &Client{}
	message := (*C.char)(C.calloc(1, 1024))
	defer C.free(unsafe.Pointer(message))
	if code := C.rainkit_client_new(&given, &client.handle, message, 1024); code != C.RAINKIT_OK {
		return nil, &Error{Code: int(code), Message: C.GoString(message)}
	}
	return client, nil
}

// Close cancels what still runs, and frees the client.
func (c *Client) Close() { C.rainkit_client_free(c.handle) }

// SignIn signs in with a password, and returns the session.
func (c *Client) SignIn(ctx context.Context, user, password string) (json.RawMessage, error) {
	return c.start(ctx, func(s *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t {
		return C.rainkit_sign_in_password(c.handle, s.add(user), s.add(password), limit, operation)
	}).Wait()
}

// ProvisionOptions are those of rainkit.h that most programs need.
type ProvisionOptions struct {
	Board, QRPayload, Proof string
	SSID, Passphrase        string
	Name                    string
}

// Provision puts a board on Wi-Fi and into the account.
func (c *Client) Provision(ctx context.Context, options ProvisionOptions) *Operation {
	return c.start(ctx, func(s *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t {
		given := C.rainkit_provision_options{
			board: s.add(options.Board), qr_payload: s.add(options.QRPayload), proof: s.add(options.Proof),
			ssid: s.add(options.SSID), passphrase: s.add(options.Passphrase), name: s.add(options.Name), timeout_ms: limit,
		}
		given.size = C.sizeof_rainkit_provision_options
		return C.rainkit_provision(c.handle, &given, operation)
	})
}

// Discover searches for boards, until the context ends or its usual time is over.
func (c *Client) Discover(ctx context.Context, transports string) *Operation {
	return c.start(ctx, func(s *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t {
		return C.rainkit_discover(c.handle, s.add(transports), limit, operation)
	})
}

// Nodes lists the boards of the account.
func (c *Client) Nodes(ctx context.Context) (json.RawMessage, error) {
	return c.start(ctx, func(s *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t {
		return C.rainkit_node_list(c.handle, limit, operation)
	}).Wait()
}

// Set sets values of boards; wait is how long it waits for the boards to report them.
func (c *Client) Set(ctx context.Context, nodes string, values any, wait time.Duration) (json.RawMessage, error) {
	document, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return c.start(ctx, func(s *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t {
		return C.rainkit_node_set(c.handle, s.add(nodes), s.add(string(document)), milliseconds(wait), limit, operation)
	}).Wait()
}

// Watch reports changes of boards until the context ends.
func (c *Client) Watch(ctx context.Context, nodes string) *Operation {
	return c.start(ctx, func(s *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t {
		return C.rainkit_node_watch(c.handle, s.add(nodes), limit, operation)
	})
}

// An Operation is a call that waits. It needs no thread of its own while it waits.
type Operation struct {
	handle *C.rainkit_operation
	file   *os.File // a copy of the descriptor, for Go's poller
	events chan Event
	done   chan struct{}
	result json.RawMessage
	err    error
}

// Events returns the channel of progress events, pages and questions. It is closed when the operation ends. Events that nobody takes wait
// in the library, which keeps the last 1,024. Cancel the context if you no longer take them.
func (o *Operation) Events() <-chan Event { return o.events }

// Wait drops the remaining events, and returns the result.
func (o *Operation) Wait() (json.RawMessage, error) {
	for range o.events {
	}
	<-o.done
	return o.result, o.err
}

// Answer answers a question. An empty answer cancels the operation.
func (o *Operation) Answer(answer string) error {
	strings := &arguments{}
	defer strings.free()
	return failure(C.rainkit_operation_answer(o.handle, strings.add(answer)))
}

type starter func(strings *arguments, limit C.uint32_t, operation **C.rainkit_operation) C.int32_t

func (c *Client) start(ctx context.Context, call starter) *Operation {
	o := &Operation{events: make(chan Event), done: make(chan struct{})}
	var limit C.uint32_t
	if deadline, exists := ctx.Deadline(); exists {
		limit = milliseconds(time.Until(deadline))
	}
	strings := &arguments{}
	defer strings.free()
	if o.err = ctx.Err(); o.err == nil {
		// C may not get the address of a member of o, which has Go pointers.
		var handle *C.rainkit_operation
		o.err = failure(call(strings, limit, &handle))
		o.handle = handle
	}
	if o.err == nil {
		if o.err = o.open(); o.err != nil {
			C.rainkit_operation_free(o.handle)
		}
	}
	if o.err != nil {
		close(o.events)
		close(o.done)
		return o
	}
	go o.run(ctx)
	return o
}

// The library closes its own descriptor, so that Go gets a copy.
func (o *Operation) open() error {
	descriptor, err := syscall.Dup(int(C.rainkit_operation_descriptor(o.handle)))
	if err != nil {
		return err
	}
	syscall.CloseOnExec(descriptor)
	o.file = os.NewFile(uintptr(descriptor), "rainkit")
	return nil
}

func (o *Operation) run(ctx context.Context) {
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
			C.rainkit_operation_cancel(o.handle)
		case <-ended:
		}
	}()
	o.result, o.err = o.read(ctx)
	close(ended)
	<-stopped
	o.file.Close()
	C.rainkit_operation_free(o.handle)
	close(o.events)
	close(o.done)
}

func (o *Operation) read(ctx context.Context) (json.RawMessage, error) {
	connection, err := o.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	event := (*C.rainkit_event)(C.calloc(1, C.sizeof_rainkit_event))
	defer C.free(unsafe.Pointer(event))
	event.size = C.sizeof_rainkit_event
	for {
		var failed error
		// Calls the function again whenever the descriptor becomes readable, until it returns true.
		err := connection.Read(func(uintptr) bool {
			failed = failure(C.rainkit_next_event(o.handle, event))
			return failed != nil || event.kind != C.RAINKIT_EVENT_NONE
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return nil, err
		}
		document := json.RawMessage(text(event.document))
		switch event.kind {
		case C.RAINKIT_EVENT_RESULT:
			return document, nil
		case C.RAINKIT_EVENT_ERROR:
			return nil, &Error{
				Code: int(event.code), Reason: text(event.reason), Message: text(event.message), Remedy: text(event.remedy),
				Step: text(event.step), Document: document,
			}
		}
		select {
		case o.events <- Event{
			Kind: int(event.kind), Name: text(event.name), Document: document, Message: text(event.message),
			Dropped: uint64(event.dropped),
		}:
		case <-ctx.Done(): // Nobody may be left to take events.
		}
	}
}

// Copies of Go strings for a call. They are wiped after it.
type arguments []C.rainkit_string

func (a *arguments) add(text string) C.rainkit_string {
	if text == "" {
		return C.rainkit_string{}
	}
	copied := C.string_of(C.CString(text), C.size_t(len(text)))
	*a = append(*a, copied)
	return copied
}

func (a *arguments) free() {
	for _, copied := range *a {
		C.discard((*C.char)(unsafe.Pointer(copied.data)), copied.length)
	}
}

func text(text C.rainkit_string) string {
	if text.length == 0 {
		return ""
	}
	return C.GoStringN(text.data, C.int(text.length))
}

func failure(code C.int32_t) error {
	if code == C.RAINKIT_OK {
		return nil
	}
	return &Error{Code: int(code), Message: fmt.Sprintf("the call failed: %s", text(C.rainkit_code_name(code)))}
}

// Milliseconds for a call, in which 0 is the default.
func milliseconds(time time.Duration) C.uint32_t {
	switch count := time.Milliseconds(); {
	case count < 1 && time != 0:
		return 1
	case count > 1<<32-1:
		return 1<<32 - 1
	default:
		return C.uint32_t(count)
	}
}
