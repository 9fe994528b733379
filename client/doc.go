// Package client talks to a Landfall server: one typed method for each call,
// tokens obtained and renewed by themselves, repeats that are safe, and many
// calls at once as a stream.
//
//	landfall, err := client.New("https://landfall.example", client.WithKey(os.Getenv("LANDFALL_API_KEY")))
//	...
//	staged, err := landfall.Stage(ctx, document)
//
// # What is repeated
//
// A request is sent again when the server did not take it (429, 503) and when
// nothing came back: every call means the same when it comes twice. The one
// exception is [Client.AddTransactions] with UncheckedIDs, which could add
// everything twice and is therefore only repeated when the server said that it
// did nothing. Between two attempts the client waits for as long as the server
// asks, or for a growing time with some chance in it, and gives up when the
// context ends or [WithPatience] is over.
//
// # Errors
//
// Whatever the server refuses is an [*Error] with a stable code, and every
// violation with its place. Everything else is about the network.
package client
