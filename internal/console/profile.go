package console

import (
	"landfall"
	"landfall/internal/service/auth"
)

// profilePage shows how the reader signs in.
type profilePage struct {
	pageHead
	MinLength int
	Required  bool // everyone needs a second factor
	Passkeys  []landfall.Passkey
	// PasskeyHost is the host that passkeys are for; "" where they do not work.
	PasskeyHost string
	// PasskeyOptions are for the browser to make a passkey; "" unless one is being made.
	PasskeyOptions string
	Secret         string // of a second factor that is not confirmed yet
	TOTPLink       string // the same for an authenticator app
	// RecoveryCodes are shown once.
	RecoveryCodes []string
}

func showProfile(r *pageRequest) (any, error) {
	return r.profilePage()
}

func (r *pageRequest) profilePage() (profilePage, error) {
	page := profilePage{
		pageHead: pageHead{Title: "Profile"}, MinLength: auth.MinPasswordLength, Required: r.console.Sessions.SecondFactorRequired(),
		PasskeyHost: r.consoleAddress().Host,
	}
	page.setPending(r.me.Name, r.console.Sessions.PendingTOTP(r.me, r.session))
	var err error
	page.Passkeys, err = r.console.Sessions.Passkeys(r.Context(), r.me.Name)
	return page, err
}

func (p *profilePage) setPending(name string, pending landfall.PendingTOTP) {
	if p.Secret = pending.Secret; p.Secret != "" {
		p.TOTPLink = auth.TOTPURL(name, p.Secret)
	}
}

// owner is what the reader typed to prove who they are.
func (r *pageRequest) owner() auth.Owner {
	return auth.Owner{Origin: r.origin(), Session: r.session, Password: r.form.Get("password"), Code: r.formValue("code")}
}

func changePassword(r *pageRequest) error {
	password, err := r.newPassword()
	if err != nil {
		return err
	}
	return r.console.Sessions.ChangePassword(r.Context(), r.origin(), r.session, r.form.Get("old"), password)
}

// startTOTP shows a new secret in its response.
func startTOTP(r *pageRequest) (any, error) {
	pending, err := r.console.Sessions.StartTOTP(r.Context(), r.owner())
	if err != nil {
		return nil, err
	}
	page, err := r.profilePage()
	page.setPending(r.me.Name, pending)
	return page, err
}

// confirmTOTP shows the recovery codes in its response.
func confirmTOTP(r *pageRequest) (any, error) {
	codes, err := r.console.Sessions.ConfirmTOTP(r.Context(), r.origin(), r.session, r.formValue("code"))
	return r.showRecoveryCodes(codes, err)
}

func renewRecoveryCodes(r *pageRequest) (any, error) {
	codes, err := r.console.Sessions.RenewRecoveryCodes(r.Context(), r.owner())
	return r.showRecoveryCodes(codes, err)
}

func (r *pageRequest) showRecoveryCodes(codes []auth.Secret, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	// The operator has changed since the request began.
	if r.me, r.session, err = r.console.Sessions.Identify(r.Context(), r.sessionSecret()); err != nil {
		return nil, err
	}
	page, err := r.profilePage()
	for _, code := range codes {
		page.RecoveryCodes = append(page.RecoveryCodes, code.Reveal())
	}
	return page, err
}

func disableTOTP(r *pageRequest) error {
	return r.console.Sessions.DisableTOTP(r.Context(), r.owner())
}

// profileRoutes are for everybody about themselves, whatever their role.
func profileRoutes() []route {
	profile := get("me/", showProfile, "profile").requiring(0)
	profile.setUp = true
	own := func(path string, handle handlerFunc) route {
		changed := post(path, handle, profile)
		changed.needs, changed.setUp = 0, true
		return changed
	}
	leave := own("sign-out/", signOut)
	leave.formHandle = nil // there is no form to go back to
	to := pathTo("me")
	return []route{
		profile, leave, own("me/password/", action(to, "Password changed. Your other sessions have ended.", changePassword)),
		own("me/second/", startTOTP), own("me/second/confirm/", confirmTOTP), own("me/second/recovery/", renewRecoveryCodes),
		own("me/second/off/", action(to, "Two-factor authentication is off.", disableTOTP)),
		own("me/passkeys/", startPasskey), own("me/passkeys/finish/", action(to, "Passkey added. You can sign in with it from now on.", finishPasskey)),
		own("me/passkeys/remove/", action(to, "Passkey removed.", removePasskey)),
	}
}
