package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// signInPage is the sign-in form.
type signInPage struct {
	pageHead
	ReturnTo  string
	NeedsCode bool // an authenticator code is required
	Provider  bool // there is a sign-in provider
	NewServer bool // there is no operator yet
	Passkeys  bool // they work at this address
}

// showSignIn shows the form, or redirects people who are signed in.
func showSignIn(r *pageRequest) (any, error) {
	to := r.queryParam("to")
	if r.form != nil {
		to = r.formValue("to")
	}
	if r.me.Name != "" && r.form == nil {
		return redirect{to: localPath(to)}, nil
	}
	needsCode := r.formValue("code") != "" || r.formError != nil && errors.Is(r.formError, auth.ErrTOTPNeeded)
	isNew, err := r.console.Sessions.NeedsSetUp(r.Context())
	if err != nil {
		return nil, err
	}
	return signInPage{pageHead: pageHead{Title: "Sign in"}, ReturnTo: to, NeedsCode: needsCode, Provider: r.console.Provider != nil, NewServer: isNew, Passkeys: r.consoleAddress().Host != ""}, nil
}

// localPath returns a path of the console whatever was asked for, so that a
// sign-in link cannot lead to another site.
func localPath(to string) string {
	// Browsers treat a backslash as a slash and two slashes as another host, and
	// resolve dots. Returning to sign-in or sign-out would be a loop.
	if !strings.HasPrefix(to, Root) || strings.HasPrefix(to, Root+"sign-") || strings.ContainsAny(to, "\\\r\n") || strings.Contains(to, "//") || strings.Contains(to, "..") {
		return Root
	}
	return to
}

// signIn starts a session. The password is not trimmed: spaces belong to it.
func signIn(r *pageRequest) (any, error) {
	return r.startSession(r.console.Sessions.SignIn, auth.SignIn{Name: r.formValue("name"), Password: r.form.Get("password"), Code: r.formValue("code")}, localPath(r.formValue("to")))
}

func (r *pageRequest) startSession(open func(context.Context, auth.SignIn) (auth.SignedIn, error), request auth.SignIn, to string) (any, error) {
	request.Origin, request.Agent = r.origin(), r.UserAgent()
	if cookie, err := r.Cookie(r.console.cookieName(r.Request, deviceName)); err == nil {
		request.Device = cookie.Value
	}
	in, err := open(r.Context(), request)
	if err != nil {
		return nil, err
	}
	r.setCookie(sessionName, in.Secret.Reveal(), 0)
	r.setCookie(deviceName, in.Device.Reveal(), limits.Device)
	message := ""
	if in.ResetBy != "" {
		message = fmt.Sprintf("Your sign-in was reset by %s on %s. If you did not expect that, tell an administrator.",
			actorNames(in.ResetBy), in.ResetAt.In(r.zone()).Format("2 January 2006 at 15:04"))
	}
	return redirect{to, message}, nil
}

func signOut(r *pageRequest) (any, error) {
	// End the session in the database first: the cookie may have been copied.
	if err := r.console.Sessions.SignOut(r.Context(), r.origin(), r.session); err != nil {
		return nil, err
	}
	r.setCookie(sessionName, "", -time.Second)
	return redirect{Root + "sign-in/", "You are signed out."}, nil
}

// welcomePage lets an invited person choose a password.
type welcomePage struct {
	pageHead
	Name      string
	InvitedBy string // who made the link or reset the sign-in before
	MinLength int
}

// errOwnSession refuses a link in the session of somebody else, who must not become
// its owner by mistake or on purpose.
var errOwnSession = &landfall.Error{
	Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
	Detail: "You are signed in, and this link is for somebody who is not. Its owner has to open it in their own browser.",
}

func showWelcome(r *pageRequest) (any, error) {
	if r.me.Name != "" {
		return nil, errOwnSession
	}
	operator, err := r.console.Sessions.Invited(r.Context(), r.PathValue("link"))
	return welcomePage{pageHead: pageHead{Title: "Welcome"}, Name: operator.Name, InvitedBy: actorNames(operator.InvitedBy), MinLength: auth.MinPasswordLength}, err
}

// actorNames writes actors of the audit for people: "ada", "root via command line".
func actorNames(actors string) string {
	names := strings.Fields(actors)
	for i, actor := range names {
		if login, ok := strings.CutPrefix(actor, "shell:"); ok {
			names[i] = login + " via command line"
		}
		if key, ok := strings.CutPrefix(actor, "key:"); ok {
			names[i] = "API key " + key
		}
		if actor == "service" {
			names[i] = "Landfall itself"
		}
		names[i] = strings.TrimPrefix(names[i], "operator:")
	}
	return strings.Join(names, " and ")
}

// authorName writes who did something on the timeline of an account: a person, or an
// organisation with its key.
func authorName(by string) string {
	if strings.Contains(by, ", key ") {
		return by
	}
	return actorNames(by)
}

// acceptInvitation sets the first password and signs in.
func acceptInvitation(r *pageRequest) (any, error) {
	if r.me.Name != "" {
		return nil, errOwnSession
	}
	// Compare the passwords first: the link works only once.
	password, err := r.newPassword()
	if err != nil {
		return nil, err
	}
	operator, err := r.console.Sessions.Accept(r.Context(), r.origin(), r.PathValue("link"), password)
	if err != nil {
		return nil, err
	}
	return r.startSession(r.console.Sessions.SignIn, auth.SignIn{Name: operator.Name, Password: password}, Root)
}

// setUpPage creates the first administrator.
type setUpPage struct {
	pageHead
	MinLength int
}

func showSetUp(r *pageRequest) (any, error) {
	return setUpPage{pageHead{Title: "Set up"}, auth.MinPasswordLength}, r.console.Sessions.CheckSetUp(r.Context(), r.PathValue("link"))
}

// setUp creates the first administrator and signs in.
func setUp(r *pageRequest) (any, error) {
	name := r.formValue("name")
	if err := operate.CheckLogin(name); err != nil {
		return nil, err
	}
	password, err := r.newPassword()
	if err != nil {
		return nil, err
	}
	if err := r.console.Sessions.SetUp(r.Context(), r.origin(), r.PathValue("link"), name, password); err != nil {
		return nil, err
	}
	return r.startSession(r.console.Sessions.SignIn, auth.SignIn{Name: name, Password: password}, Root)
}

// SetUpPath is the page for a link that creates the first administrator.
func SetUpPath(link string) string { return consolePath("set-up", link) }

// newPassword returns the password that was typed twice.
func (r *pageRequest) newPassword() (string, error) {
	password := r.form.Get("password")
	if password != r.form.Get("again") {
		return "", landfall.Refuse(landfall.CodeValidationFailed, "The two passwords differ. Type them again.")
	}
	return password, nil
}

// chooseTheme remembers whether pages are light or dark.
func chooseTheme(r *pageRequest) (any, error) {
	const year = 365 * 24 * time.Hour
	switch theme := r.formValue("theme"); theme {
	case "light", "dark":
		r.setCookie(themeName, theme, year)
	default:
		r.setCookie(themeName, "", -time.Second)
	}
	return redirect{to: localPath(r.formValue("to"))}, nil
}

// signInRoutes need no sign-in.
func signInRoutes() []route {
	public := func(path string, show, submit handlerFunc, view string) []route {
		page := route{path: path, handle: show, view: view, public: true}
		form := post(path, submit, page)
		form.public, form.needs = true, 0
		return []route{page, form}
	}
	all := []route{{method: http.MethodPost, path: "theme/", handle: chooseTheme, public: true}}
	all = append(all, providerRoutes()...)
	all = append(all, passkeyRoutes()...)
	all = append(all, public("sign-in/", showSignIn, signIn, "sign-in")...)
	all = append(all, public("set-up/{link}/", showSetUp, setUp, "set-up")...)
	return append(all, public("welcome/{link}/", showWelcome, acceptInvitation, "welcome")...)
}
