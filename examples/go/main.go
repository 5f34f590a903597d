// SPDX-License-Identifier: Apache-2.0

// A gateway with a goroutine for each board. It signs in, and provisions the lights of its command line at the same time. Then it watches
// them, switches them off, and ends when all of them have reported that they are off. (New lights are on.)
//
//	go build && EXAMPLE_… ./gateway serial:/dev/ttyUSB0 softap:192.168.4.1
//
// It ends with the number of the first error, which is also the exit code of rainctl.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"example.com/gateway/rainkit"
)

func main() {
	// Ctrl-C cancels what runs.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err == nil {
		fmt.Println("done")
		return
	}
	fmt.Fprintln(os.Stderr, err)
	var failure *rainkit.Error
	if !errors.As(err, &failure) {
		os.Exit(1)
	}
	if failure.Remedy != "" {
		fmt.Fprintln(os.Stderr, failure.Remedy)
	}
	os.Exit(failure.Code)
}

func run(ctx context.Context, boards []string) error {
	client, err := rainkit.New(rainkit.Options{
		State: os.Getenv("EXAMPLE_STATE"), BaseURL: os.Getenv("EXAMPLE_CLOUD"), Store: rainkit.StoreFile,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.SignIn(ctx, os.Getenv("EXAMPLE_USER"), os.Getenv("EXAMPLE_PASSWORD")); err != nil {
		return err
	}
	nodes, err := provisionAll(ctx, client, boards)
	if err != nil {
		return err
	}
	return switchOff(ctx, client, nodes)
}

// provisionAll provisions boards at the same time, and returns their node ids. The first error cancels the others.
func provisionAll(ctx context.Context, client *rainkit.Client, boards []string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		node string
		err  error
	}
	outcomes := make(chan outcome)
	for _, board := range boards {
		go func(board string) {
			node, err := provision(ctx, client, board)
			outcomes <- outcome{node, err}
		}(board)
	}
	var nodes []string
	var first error
	for range boards {
		outcome := <-outcomes
		if outcome.err != nil && first == nil {
			first = outcome.err
			cancel()
		}
		nodes = append(nodes, outcome.node)
	}
	return nodes, first
}

func provision(ctx context.Context, client *rainkit.Client, board string) (string, error) {
	operation := client.Provision(ctx, rainkit.ProvisionOptions{
		Board: board, Proof: os.Getenv("EXAMPLE_PROOF"),
		SSID: os.Getenv("EXAMPLE_NETWORK"), Passphrase: os.Getenv("EXAMPLE_PASSPHRASE"),
	})
	for event := range operation.Events() {
		var progress struct{ Step string }
		json.Unmarshal(event.Document, &progress)
		fmt.Printf("%s: %s %s\n", board, progress.Step, event.Name)
	}
	document, err := operation.Wait()
	if err != nil {
		return "", fmt.Errorf("%s: %w", board, err)
	}
	var result struct {
		NodeID string `json:"node_id"`
	}
	err = json.Unmarshal(document, &result)
	fmt.Printf("%s: is node %s\n", board, result.NodeID)
	return result.NodeID, err
}

// set sets values of boards. A new board needs a moment to tell the cloud what it is; until then it has no_configuration.
func set(ctx context.Context, client *rainkit.Client, nodes string, values any) error {
	for {
		_, err := client.Set(ctx, nodes, values, 0)
		var failure *rainkit.Error
		if !errors.As(err, &failure) || failure.Reason != "no_configuration" {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return err
		}
	}
}

// switchOff switches all boards off, and waits until the watch has seen it.
func switchOff(ctx context.Context, client *rainkit.Client, nodes []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	names := strings.Join(nodes, ",")
	on := map[string]bool{}
	for _, node := range nodes {
		on[node] = true
	}
	watch := client.Watch(ctx, names)
	for event := range watch.Events() {
		if event.Name == "listening" { // From now on the watch misses nothing.
			off := map[string]any{"Light": map[string]any{"Power": false}}
			if err := set(ctx, client, names, off); err != nil {
				return err
			}
		}
		var change struct {
			NodeID string `json:"node_id"`
			Path   string
			Value  any
		}
		if json.Unmarshal(event.Document, &change) != nil || change.Path != "Light.Power" {
			continue
		}
		fmt.Printf("%s: Light.Power is %v\n", change.NodeID, change.Value)
		if change.Value == false {
			delete(on, change.NodeID)
		}
		if len(on) == 0 {
			cancel()
			if _, err := watch.Wait(); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		}
	}
	if _, err := watch.Wait(); err != nil {
		return err
	}
	return context.DeadlineExceeded
}
