package console

import (
	"context"
	"net/http"
	"strings"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/identity"
	"landfall/internal/service/auth"
)

// Provider signs people in who have an account elsewhere.
type Provider interface {
	// Start returns the address to which the browser is sent.
	Start(ctx context.Context, attempt identity.Attempt, redirect string) (string, error)
	// Finish returns the name of the operator who comes back.
	Finish(ctx context.Context, attempt identity.Attempt, state, code, redirect string) (string, error)
}

// providerName is the cookie of a sign-in that is under way. It holds the random
// values of the sign-in and the page to return to.
const providerName = "landfall_provider"

// callbackURL is where the provider sends the browser back to.
func (r *pageRequest) callbackURL() string {
	return r.baseURL() + consolePath("sign-in", "provider", "callback")
}

// startProvider sends the browser to the provider.
func startProvider(r *pageRequest) (any, error) {
	if r.console.Provider == nil {
		return nil, &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "No sign-in provider is configured. Sign in with your password."}
	}
	attempt := identity.NewAttempt()
	to, err := r.console.Provider.Start(r.Context(), attempt, r.callbackURL())
	if err != nil {
		return nil, err
	}
	r.setCookie(providerName, strings.Join([]string{attempt.State, attempt.Nonce, attempt.Verifier}, "."), limits.PendingSecondFactor)
	http.Redirect(r.Writer, r.Request, to, http.StatusSeeOther)
	return nil, nil //nolint:nilnil // the response is written
}

// finishProvider signs in who comes back from the provider.
func finishProvider(r *pageRequest) (any, error) {
	if r.console.Provider == nil {
		return startProvider(r)
	}
	var attempt identity.Attempt
	if cookie, err := r.Cookie(r.console.cookieName(r.Request, providerName)); err == nil {
		if parts := strings.Split(cookie.Value, "."); len(parts) == 3 {
			attempt = identity.Attempt{State: parts[0], Nonce: parts[1], Verifier: parts[2]}
		}
	}
	r.setCookie(providerName, "", -1) // it works once
	if refusal := r.queryParam("error"); refusal != "" {
		return nil, &landfall.Error{Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated, Detail: "The sign-in provider refused the sign-in. Start again, or sign in with your password."}
	}
	name, err := r.console.Provider.Finish(r.Context(), attempt, r.queryParam("state"), r.queryParam("code"), r.callbackURL())
	if err != nil {
		return nil, err
	}
	return r.startSession(func(ctx context.Context, request auth.SignIn) (auth.SignedIn, error) {
		return r.console.Sessions.SignInKnown(ctx, request, landfall.SignInProvider)
	}, auth.SignIn{Name: name}, Root)
}

func providerRoutes() []route {
	callback := route{path: "sign-in/provider/callback/", handle: finishProvider, public: true}
	// A refusal is shown on the sign-in page.
	callback.formHandle, callback.formView = showSignIn, "sign-in"
	return []route{{path: "sign-in/provider/", handle: startProvider, formHandle: showSignIn, formView: "sign-in", public: true}, callback}
}
