// Package client is a client of the Landfall API: one typed method per call, automatic tokens, safe
// retries, and bulk calls as streams.
//
//	landfall, err := client.New("https://landfall.example", client.WithKey(os.Getenv("LANDFALL_API_KEY")))
//	...
//	staged, err := landfall.Stage(ctx, document)
//
// # Retries
//
// A request is sent again if the server did not accept it (429, 503) or if no response arrived.
// This is safe because every call is idempotent. The one exception is [Client.AddTransactions] with
// UncheckedIDs, which could add everything twice; it is retried only if the server said that it did
// nothing. Between two attempts the client waits as long as the server asks, or for a growing,
// randomised time. It gives up when the context ends or after [WithRetryTime].
//
// # Errors
//
// Every refusal of the server is an [*Error] with a stable code and all violations. All other
// errors are about the network.
package client
