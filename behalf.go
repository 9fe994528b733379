package landfall

import "context"

type behalf struct{}

// OnBehalf returns a context that names the organisation for which something is
// done. Stores use it to let organisations take turns, so that none can block
// another.
func OnBehalf(ctx context.Context, organisation string) context.Context {
	return context.WithValue(ctx, behalf{}, organisation)
}

// OnBehalfOf returns the organisation that OnBehalf named, or "".
func OnBehalfOf(ctx context.Context) string {
	organisation, _ := ctx.Value(behalf{}).(string)
	return organisation
}

type background struct{}

// Turns shares the processors among background work.
type Turns interface {
	// Enter waits for a turn. The returned function ends it.
	Enter(ctx context.Context) (leave func())
}

// InBackground marks background work in a context. Such work takes turns at the
// processors and has a queue of its own at the database, so that interactive
// requests go first.
func InBackground(ctx context.Context, turns Turns) context.Context {
	return context.WithValue(ctx, background{}, turns)
}

// IsBackground reports whether a context is marked as background work.
func IsBackground(ctx context.Context) bool { return ctx.Value(background{}) != nil }

// Turn waits for a turn at the processors if the context is marked as
// background work; otherwise it does not wait. The returned function ends the
// turn.
func Turn(ctx context.Context) (leave func()) {
	if turns, has := ctx.Value(background{}).(Turns); has {
		return turns.Enter(ctx)
	}
	return func() {}
}
