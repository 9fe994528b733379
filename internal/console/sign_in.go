package console

import (
	"errors"
	"net/http"
	"strings"

	"landfall"
	"landfall/internal/service/auth"
)

// door is the page to sign in on.
type door struct {
	head
	To     string // where to go then
	Second bool   // a code is wanted as well
}

// knock shows the door, or lets somebody through who is in already.
func knock(v *visit) (any, error) {
	to := v.query("to")
	if v.form != nil {
		to = v.typed("to")
	}
	// Not while a form is being answered: who is in and types a wrong password is told so.
	if v.me.Name != "" && v.form == nil {
		return done{to: inside(to)}, nil
	}
	return door{head: head{Title: "Sign in"}, To: to, Second: errors.Is(v.refusalError(), auth.ErrSecondNeeded) || v.typed("code") != ""}, nil
}

// refusalError is the refusal as an error, which nil must stay.
func (v *visit) refusalError() error {
	if v.refusal == nil {
		return nil
	}
	return v.refusal
}

// inside gives a path of the console, whatever was asked for: nobody is sent
// elsewhere by a link to the door.
func inside(to string) string {
	// A browser takes a backslash for a slash and two slashes for another host, and resolves
	// dots: each would lead out. Back to signing out or in would go round in a circle.
	if !strings.HasPrefix(to, Root) || strings.HasPrefix(to, Root+"sign-") || strings.ContainsAny(to, "\\\r\n") || strings.Contains(to, "//") || strings.Contains(to, "..") {
		return Root
	}
	return to
}

// signIn opens a session and gives the browser its secret.
// The password is taken as it is: blanks around it are part of it, and typed would drop them.
func signIn(v *visit) (any, error) {
	return v.enter(auth.SignIn{Name: v.typed("name"), Password: v.form.Get("password"), Code: v.typed("code")}, inside(v.typed("to")))
}

func (v *visit) enter(request auth.SignIn, to string) (any, error) {
	request.Address, request.Agent = v.console.ClientAddress(v.Request).String(), v.UserAgent()
	secret, _, err := v.console.Reception.SignIn(v.ctx(), request)
	if err != nil {
		return nil, err
	}
	// Until the browser is closed; the session ends by itself when it is not.
	v.keep(sessionName, secret.Reveal(), 0)
	return done{to: to}, nil
}

// signOut ends the session and forgets its secret.
func signOut(v *visit) (any, error) {
	// The session ends in the database first: a cookie taken away from a browser could still have
	// been copied.
	if err := v.console.Reception.SignOut(v.ctx(), v.session); err != nil {
		return nil, err
	}
	v.keep(sessionName, "", -1)
	return done{to: Root + "sign-in/", say: "You are signed out."}, nil
}

// invitation is the page to choose a first password on.
type invitation struct {
	head
	Name     string
	Shortest int
}

// invited shows whom a link is for.
func invited(v *visit) (any, error) {
	operator, err := v.console.Reception.Invited(v.ctx(), v.value("link"))
	if err != nil {
		return nil, err
	}
	return invitation{head: head{Title: "Welcome"}, Name: operator.Name, Shortest: auth.ShortestPassword}, nil
}

// accept keeps the password that somebody invited has chosen, and lets him in.
func accept(v *visit) (any, error) {
	// The two are compared before the link is used: it is good for one time only, and a slip must
	// not spend it.
	password, err := v.newPassword()
	if err != nil {
		return nil, err
	}
	operator, err := v.console.Reception.Accept(v.ctx(), v.value("link"), password)
	if err != nil {
		return nil, err
	}
	return v.enter(auth.SignIn{Name: operator.Name, Password: password}, Root)
}

// newPassword is what was typed twice.
func (v *visit) newPassword() (string, error) {
	password := v.form.Get("password")
	if password != v.form.Get("again") {
		return "", landfall.Refuse(landfall.CodeValidationFailed, "The two passwords are not the same. Type them again.")
	}
	return password, nil
}

// own is the page of one's own sign-in.
type own struct {
	head
	Shortest int
	Secret   string // of a second factor that may be switched on
	Address  string // the same for an app
}

// me shows how one signs in.
func me(v *visit) (any, error) {
	page := own{head: head{Title: "My sign-in"}, Shortest: auth.ShortestPassword}
	if v.me.TOTPSecret == "" {
		page.Secret = v.typed("secret") // the app may know it already
		if page.Secret == "" {
			page.Secret = auth.NewSecond()
		}
		page.Address = auth.SecondAddress(v.me.Name, page.Secret)
	}
	return page, nil
}

func changePassword(v *visit) (any, error) {
	password, err := v.newPassword()
	if err == nil {
		err = v.console.Reception.ChangePassword(v.ctx(), v.session, v.form.Get("old"), password)
	}
	return done{to: address("me"), say: "The password is changed. Your other sessions have ended."}, err
}

func addSecond(v *visit) (any, error) {
	err := v.console.Reception.AddSecond(v.ctx(), v.session, v.typed("secret"), v.typed("code"))
	return done{to: address("me"), say: "The second factor is on. Keep the app: without it an operator has to reset your sign-in."}, err
}

func dropSecond(v *visit) (any, error) {
	err := v.console.Reception.DropSecond(v.ctx(), v.session, v.form.Get("password"))
	return done{to: address("me"), say: "The second factor is off."}, err
}

// chooseTheme keeps whether pages are light or dark.
func chooseTheme(v *visit) (any, error) {
	const year = 365 * 24 * 3600e9
	switch theme := v.typed("theme"); theme {
	case "light", "dark":
		v.keep(themeName, theme, year)
	default:
		v.keep(themeName, "", -1)
	}
	return done{to: inside(v.typed("to"))}, nil
}

// doors are the pages and acts of signing in. Those that concern oneself alone
// are for everybody.
func doors() []page {
	mine := reads("me/", me, "me")
	of := func(path string, verb func(*visit) (any, error)) page {
		own := acts(path, verb, mine)
		own.role = landfall.ConsoleSupport
		return own
	}
	out := of("sign-out/", signOut)
	// Who signs out where it fails has no page to go back to; the error is a page of its own.
	out.again = nil
	return []page{
		{path: "sign-in/", verb: knock, view: "sign-in", open: true},
		{method: http.MethodPost, path: "sign-in/", verb: signIn, view: "sign-in", again: knock, lookAgain: "sign-in", open: true},
		{path: "welcome/{link}/", verb: invited, view: "welcome", open: true},
		{method: http.MethodPost, path: "welcome/{link}/", verb: accept, view: "welcome", again: invited, lookAgain: "welcome", open: true},
		mine, out, of("me/password/", changePassword), of("me/second/", addSecond), of("me/second/off/", dropSecond),
		{method: http.MethodPost, path: "theme/", verb: chooseTheme, open: true},
	}
}
