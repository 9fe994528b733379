package console

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"net/url"

	"landfall/internal/service/auth"
)

// consoleAddress is where the browser sees the console. It has no host if passkeys do not work
// there: browsers refuse them for IP addresses.
func (r *pageRequest) consoleAddress() auth.ConsoleAddress {
	address, err := url.Parse(r.baseURL())
	if err != nil {
		return auth.ConsoleAddress{}
	}
	if _, err := netip.ParseAddr(address.Hostname()); err == nil {
		return auth.ConsoleAddress{}
	}
	return auth.ConsoleAddress{Host: address.Hostname(), Origin: address.Scheme + "://" + address.Host}
}

// startPasskey shows the form that makes a passkey.
func startPasskey(r *pageRequest) (any, error) {
	options, err := r.console.Sessions.StartPasskey(r.Context(), r.owner(), r.consoleAddress())
	if err != nil {
		return nil, err
	}
	page, err := r.profilePage()
	page.PasskeyOptions = options
	return page, err
}

func finishPasskey(r *pageRequest) error {
	return r.console.Sessions.FinishPasskey(r.Context(), r.origin(), r.session, r.consoleAddress(), r.formValue("name"), r.form.Get("credential"))
}

func removePasskey(r *pageRequest) error {
	return r.console.Sessions.RemovePasskey(r.Context(), r.owner(), r.formValue("name"))
}

// offerPasskeySignIn answers the script of the sign-in page.
func offerPasskeySignIn(r *pageRequest) (any, error) {
	options, err := r.console.Sessions.StartPasskeySignIn(r.Context(), r.origin(), r.consoleAddress())
	if err != nil {
		return nil, err
	}
	r.Writer.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(r.Writer, options) // the reader may have left
	return nil, nil                          //nolint:nilnil // the response is written
}

func signInPasskey(r *pageRequest) (any, error) {
	return r.startSession(func(ctx context.Context, request auth.SignIn) (auth.SignedIn, error) {
		return r.console.Sessions.SignInPasskey(ctx, request, r.consoleAddress(), r.form.Get("credential"))
	}, auth.SignIn{}, localPath(r.formValue("to")))
}

func passkeyRoutes() []route {
	finish := route{method: http.MethodPost, path: "sign-in/passkey/finish/", handle: signInPasskey, public: true}
	// A refusal is shown on the sign-in page.
	finish.formHandle, finish.formView, finish.formPath = showSignIn, "sign-in", "sign-in/"
	return []route{finish, {method: http.MethodPost, path: "sign-in/passkey/", handle: offerPasskeySignIn, public: true}}
}
