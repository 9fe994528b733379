package landfall

import "context"

type behalf struct{}

// OnBehalf says in a context for which organisation something is done. Stores
// let organisations take turns by it, so that none can hold up another.
func OnBehalf(ctx context.Context, organisation string) context.Context {
	return context.WithValue(ctx, behalf{}, organisation)
}

// OnBehalfOf gives the organisation that OnBehalf named, or nothing.
func OnBehalfOf(ctx context.Context) string {
	organisation, _ := ctx.Value(behalf{}).(string)
	return organisation
}

type patience struct{}

// Turns rations the processors among work that has time.
type Turns interface {
	// Enter waits for a turn; the function it gives back ends it.
	Enter(ctx context.Context) (leave func())
}

// Patiently marks work that has time: it takes turns at the processors, and at
// the database it waits in a line of its own, so that what somebody waits for
// goes before it.
func Patiently(ctx context.Context, turns Turns) context.Context {
	return context.WithValue(ctx, patience{}, turns)
}

// Patient says whether work has time.
func Patient(ctx context.Context) bool { return ctx.Value(patience{}) != nil }

// Turn waits for a turn at the processors, where the work has time; nobody else
// waits. The function it gives back ends the turn.
func Turn(ctx context.Context) (leave func()) {
	if turns, has := ctx.Value(patience{}).(Turns); has {
		return turns.Enter(ctx)
	}
	return func() {}
}
