package console

import (
	"errors"
	"net/http"
	"strings"

	"landfall"
	"landfall/internal/service/auth"
)

// signInPage is the page to sign in on.
type signInPage struct {
	pageHead
	ReturnTo  string // where to go then
	NeedsCode bool   // a code is wanted as well
}

// showSignIn shows the door, or lets somebody through who is in already.
func showSignIn(r *pageRequest) (any, error) {
	to := r.queryParam("to")
	if r.form != nil {
		to = r.formValue("to")
	}
	// Not while a form is being answered: who is in and types a wrong password is told so.
	if r.me.Name != "" && r.form == nil {
		return redirect{to: localPath(to)}, nil
	}
	return signInPage{pageHead: pageHead{Title: "Sign in"}, ReturnTo: to, NeedsCode: errors.Is(r.refusalError(), auth.ErrSecondNeeded) || r.formValue("code") != ""}, nil
}

// refusalError is the refusal as an error, which nil must stay.
func (r *pageRequest) refusalError() error {
	if r.formError == nil {
		return nil
	}
	return r.formError
}

// localPath gives a path of the console, whatever was asked for: nobody is sent
// elsewhere by a link to the door.
func localPath(to string) string {
	// A browser takes a backslash for a slash and two slashes for another host, and resolves
	// dots: each would lead out. Back to signing out or in would go round in a circle.
	if !strings.HasPrefix(to, Root) || strings.HasPrefix(to, Root+"sign-") || strings.ContainsAny(to, "\\\r\n") || strings.Contains(to, "//") || strings.Contains(to, "..") {
		return Root
	}
	return to
}

// signIn opens a session and gives the browser its secret.
// The password is taken as it is: blanks around it are part of it, and typed would drop them.
func signIn(r *pageRequest) (any, error) {
	return r.startSession(auth.SignIn{Name: r.formValue("name"), Password: r.form.Get("password"), Code: r.formValue("code")}, localPath(r.formValue("to")))
}

func (r *pageRequest) startSession(request auth.SignIn, to string) (any, error) {
	request.Address, request.Agent = r.console.ClientAddress(r.Request).String(), r.UserAgent()
	secret, _, err := r.console.Sessions.SignIn(r.Context(), request)
	if err != nil {
		return nil, err
	}
	// Until the browser is closed; the session ends by itself when it is not.
	r.setCookie(sessionName, secret.Reveal(), 0)
	return redirect{to: to}, nil
}

// signOut ends the session and forgets its secret.
func signOut(r *pageRequest) (any, error) {
	// The session ends in the database first: a cookie taken away from a browser could still have
	// been copied.
	if err := r.console.Sessions.SignOut(r.Context(), r.session); err != nil {
		return nil, err
	}
	r.setCookie(sessionName, "", -1)
	return redirect{to: Root + "sign-in/", message: "You are signed out."}, nil
}

// welcomePage is the page to choose a first password on.
type welcomePage struct {
	pageHead
	Name      string
	MinLength int
}

// showWelcome shows whom a link is for.
func showWelcome(r *pageRequest) (any, error) {
	operator, err := r.console.Sessions.Invited(r.Context(), r.PathValue("link"))
	if err != nil {
		return nil, err
	}
	return welcomePage{pageHead: pageHead{Title: "Welcome"}, Name: operator.Name, MinLength: auth.ShortestPassword}, nil
}

// acceptInvitation keeps the password that somebody invited has chosen, and lets him in.
func acceptInvitation(r *pageRequest) (any, error) {
	// The two are compared before the link is used: it is good for one time only, and a slip must
	// not spend it.
	password, err := r.newPassword()
	if err != nil {
		return nil, err
	}
	operator, err := r.console.Sessions.Accept(r.Context(), r.PathValue("link"), password)
	if err != nil {
		return nil, err
	}
	return r.startSession(auth.SignIn{Name: operator.Name, Password: password}, Root)
}

// newPassword is what was typed twice.
func (r *pageRequest) newPassword() (string, error) {
	password := r.form.Get("password")
	if password != r.form.Get("again") {
		return "", landfall.Refuse(landfall.CodeValidationFailed, "The two passwords are not the same. Type them again.")
	}
	return password, nil
}

// profilePage is the page of one's own sign-in.
type profilePage struct {
	pageHead
	MinLength int
	Secret    string // of a second factor that may be switched on
	TOTPLink  string // the same for an app
}

// showProfile shows how one signs in.
func showProfile(r *pageRequest) (any, error) {
	page := profilePage{pageHead: pageHead{Title: "My sign-in"}, MinLength: auth.ShortestPassword}
	if r.me.TOTPSecret == "" {
		page.Secret = r.formValue("secret") // the app may know it already
		if page.Secret == "" {
			page.Secret = auth.NewSecond()
		}
		page.TOTPLink = auth.SecondAddress(r.me.Name, page.Secret)
	}
	return page, nil
}

func changePassword(r *pageRequest) (any, error) {
	password, err := r.newPassword()
	if err == nil {
		err = r.console.Sessions.ChangePassword(r.Context(), r.session, r.form.Get("old"), password)
	}
	return redirect{to: consolePath("me"), message: "The password is changed. Your other sessions have ended."}, err
}

func enableTOTP(r *pageRequest) (any, error) {
	err := r.console.Sessions.AddSecond(r.Context(), r.session, r.formValue("secret"), r.formValue("code"))
	return redirect{to: consolePath("me"), message: "The second factor is on. Keep the app: without it an operator has to reset your sign-in."}, err
}

func disableTOTP(r *pageRequest) (any, error) {
	err := r.console.Sessions.DropSecond(r.Context(), r.session, r.form.Get("password"))
	return redirect{to: consolePath("me"), message: "The second factor is off."}, err
}

// chooseTheme keeps whether pages are light or dark.
func chooseTheme(r *pageRequest) (any, error) {
	const year = 365 * 24 * 3600e9
	switch theme := r.formValue("theme"); theme {
	case "light", "dark":
		r.setCookie(themeName, theme, year)
	default:
		r.setCookie(themeName, "", -1)
	}
	return redirect{to: localPath(r.formValue("to"))}, nil
}

// signInRoutes are the pages and acts of signing in. Those that concern oneself alone
// are for everybody.
func signInRoutes() []route {
	mine := get("me/", showProfile, "me")
	of := func(path string, verb func(*pageRequest) (any, error)) route {
		own := post(path, verb, mine)
		own.role = landfall.ConsoleSupport
		return own
	}
	out := of("sign-out/", signOut)
	// Who signs out where it fails has no page to go back to; the error is a page of its own.
	out.formHandle = nil
	return []route{
		{path: "sign-in/", handle: showSignIn, view: "sign-in", public: true},
		{method: http.MethodPost, path: "sign-in/", handle: signIn, view: "sign-in", formHandle: showSignIn, formView: "sign-in", public: true},
		{path: "welcome/{link}/", handle: showWelcome, view: "welcome", public: true},
		{method: http.MethodPost, path: "welcome/{link}/", handle: acceptInvitation, view: "welcome", formHandle: showWelcome, formView: "welcome", public: true},
		mine, out, of("me/password/", changePassword), of("me/second/", enableTOTP), of("me/second/off/", disableTOTP),
		{method: http.MethodPost, path: "theme/", handle: chooseTheme, public: true},
	}
}
