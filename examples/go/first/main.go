// SPDX-License-Identifier: Apache-2.0
// Signs in, and prints the boards of the account as JSON.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/gateway/rainkit"
)

func main() {
	ctx := context.Background()
	client, err := rainkit.New(rainkit.Options{BaseURL: os.Getenv("EXAMPLE_CLOUD"), Store: rainkit.StoreMemory})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := client.SignIn(ctx, os.Getenv("EXAMPLE_USER"), os.Getenv("EXAMPLE_PASSWORD")); err != nil {
		log.Fatal(err)
	}
	nodes, err := client.Nodes(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(nodes))
}
