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
