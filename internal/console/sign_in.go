package console

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"landfall"
	"landfall/internal/service/auth"
)

// signInPage is the sign-in form.
type signInPage struct {
	pageHead
	ReturnTo  string
	NeedsCode bool // an authenticator code is required
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
	return signInPage{pageHead: pageHead{Title: "Sign in"}, ReturnTo: to, NeedsCode: needsCode}, nil
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
	return r.startSession(auth.SignIn{Name: r.formValue("name"), Password: r.form.Get("password"), Code: r.formValue("code")}, localPath(r.formValue("to")))
}

func (r *pageRequest) startSession(request auth.SignIn, to string) (any, error) {
	request.Address, request.Agent = r.console.ClientAddress(r.Request).String(), r.UserAgent()
	secret, _, err := r.console.Sessions.SignIn(r.Context(), request)
	if err != nil {
		return nil, err
	}
	r.setCookie(sessionName, secret.Reveal(), 0)
	return redirect{to: to}, nil
}

func signOut(r *pageRequest) (any, error) {
	// End the session in the database first: the cookie may have been copied.
	if err := r.console.Sessions.SignOut(r.Context(), r.session); err != nil {
		return nil, err
	}
	r.setCookie(sessionName, "", -time.Second)
	return redirect{Root + "sign-in/", "You are signed out."}, nil
}

// welcomePage lets an invited person choose a password.
type welcomePage struct {
	pageHead
	Name      string
	MinLength int
}

func showWelcome(r *pageRequest) (any, error) {
	operator, err := r.console.Sessions.Invited(r.Context(), r.PathValue("link"))
	return welcomePage{pageHead: pageHead{Title: "Welcome"}, Name: operator.Name, MinLength: auth.MinPasswordLength}, err
}

// acceptInvitation sets the first password and signs in.
func acceptInvitation(r *pageRequest) (any, error) {
	// Compare the passwords first: the link works only once.
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

// newPassword returns the password that was typed twice.
func (r *pageRequest) newPassword() (string, error) {
	password := r.form.Get("password")
	if password != r.form.Get("again") {
		return "", landfall.Refuse(landfall.CodeValidationFailed, "The two passwords differ. Type them again.")
	}
	return password, nil
}

// profilePage shows how the reader signs in.
type profilePage struct {
	pageHead
	MinLength int
	Secret    string // for two-factor authentication that is not on yet
	TOTPLink  string // the same for an authenticator app
}

func showProfile(r *pageRequest) (any, error) {
	page := profilePage{pageHead: pageHead{Title: "Profile"}, MinLength: auth.MinPasswordLength}
	if r.me.TOTPSecret == "" {
		page.Secret = r.formValue("secret") // the app may have it already
		if page.Secret == "" {
			page.Secret = auth.NewTOTPSecret()
		}
		page.TOTPLink = auth.TOTPURL(r.me.Name, page.Secret)
	}
	return page, nil
}

func changePassword(r *pageRequest) error {
	password, err := r.newPassword()
	if err != nil {
		return err
	}
	return r.console.Sessions.ChangePassword(r.Context(), r.session, r.form.Get("old"), password)
}

func enableTOTP(r *pageRequest) error {
	return r.console.Sessions.EnableTOTP(r.Context(), r.session, r.formValue("secret"), r.formValue("code"))
}

func disableTOTP(r *pageRequest) error {
	return r.console.Sessions.DisableTOTP(r.Context(), r.session, r.form.Get("password"))
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

// signInRoutes are for everybody, whatever their role.
func signInRoutes() []route {
	profile := get("me/", showProfile, "profile")
	own := func(path string, handle handlerFunc) route {
		changed := post(path, handle, profile)
		changed.role = landfall.ConsoleSupport
		return changed
	}
	public := func(path string, show, submit handlerFunc, view string) []route {
		page := route{path: path, handle: show, view: view, public: true}
		form := post(path, submit, page)
		form.public, form.role = true, ""
		return []route{page, form}
	}
	leave := own("sign-out/", signOut)
	leave.formHandle = nil // there is no form to go back to
	to := pathTo("me")
	all := []route{
		profile, leave, own("me/password/", action(to, "Password changed. Your other sessions have ended.", changePassword)),
		own("me/second/", action(to, "Two-factor authentication is on. If you lose the app, an operator has to reset your sign-in.", enableTOTP)),
		own("me/second/off/", action(to, "Two-factor authentication is off.", disableTOTP)),
		{method: http.MethodPost, path: "theme/", handle: chooseTheme, public: true},
	}
	all = append(all, public("sign-in/", showSignIn, signIn, "sign-in")...)
	return append(all, public("welcome/{link}/", showWelcome, acceptInvitation, "welcome")...)
}
