package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"landfall"
	"landfall/internal/lib/limits"
)

// This file contains passkeys (WebAuthn). A passkey proves that its owner has the device
// and unlocked it, so it replaces the password and the second factor.

// ConsoleAddress is the address that a browser shows. A passkey works only for its host.
type ConsoleAddress struct{ Host, Origin string }

// maxPasskeyName limits the name of a passkey.
const maxPasskeyName = 64

// errNoPasskey is the error of every failed sign-in with a passkey.
var errNoPasskey = &landfall.Error{
	Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated,
	Detail: "The passkey was not accepted: it is not known here, or it took too long. Try again, or sign in with your password.",
}

// passkeyOwner is an operator as the library wants to see one.
type passkeyOwner struct {
	name     string
	passkeys []landfall.Passkey
}

// WebAuthnID returns a handle that reveals nothing about the operator.
func (o passkeyOwner) WebAuthnID() []byte {
	hash := digest("passkeys of " + o.name)
	return hash[:]
}

func (o passkeyOwner) WebAuthnName() string        { return o.name }
func (o passkeyOwner) WebAuthnDisplayName() string { return o.name }

// WebAuthnCredentials returns the passkeys. One that cannot be read is none.
func (o passkeyOwner) WebAuthnCredentials() (credentials []webauthn.Credential) {
	for _, passkey := range o.passkeys {
		var credential webauthn.Credential
		if json.Unmarshal([]byte(passkey.Credential), &credential) == nil {
			credentials = append(credentials, credential)
		}
	}
	return credentials
}

func relyingParty(at ConsoleAddress) (*webauthn.WebAuthn, error) {
	return webauthn.New(&webauthn.Config{
		RPID: at.Host, RPDisplayName: "Landfall", RPOrigins: []string{at.Origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
	})
}

// offer stores a challenge and returns the options for the browser as JSON.
func (r *Sessions) offer(ctx context.Context, session string, pending *webauthn.SessionData, options any) (string, error) {
	data, err := json.Marshal(pending)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(options)
	if err != nil {
		return "", err
	}
	challenge := landfall.PasskeyChallenge{Hash: digest(pending.Challenge), Session: session, Data: string(data)}
	return string(text), r.store.Update(ctx, func(tx landfall.Tx) error {
		return tx.OfferChallenge(ctx, challenge, limits.PendingSecondFactor, limits.PasskeyChallenges)
	})
}

// take returns what was offered with a challenge. It works once.
func (r *Sessions) take(ctx context.Context, session, challenge string) (pending webauthn.SessionData, err error) {
	data := ""
	if err := r.store.Update(ctx, func(tx landfall.Tx) (err error) {
		data, err = tx.TakeChallenge(ctx, digest(challenge), session)
		return err
	}); err != nil {
		return pending, err
	}
	return pending, json.Unmarshal([]byte(data), &pending)
}

// Passkeys returns the passkeys of an operator.
func (r *Sessions) Passkeys(ctx context.Context, operator string) (passkeys []landfall.Passkey, err error) {
	err = r.store.View(ctx, func(view landfall.View) (err error) {
		passkeys, err = view.Passkeys(ctx, operator)
		return err
	})
	return passkeys, err
}

// StartPasskey returns the options with which a browser makes a new passkey.
func (r *Sessions) StartPasskey(ctx context.Context, owner Owner, at ConsoleAddress) (options string, err error) {
	operator, err := r.Prove(ctx, owner)
	if err != nil {
		return "", err
	}
	passkeys, err := r.Passkeys(ctx, operator.Name)
	if err != nil {
		return "", landfall.UserError("reading passkeys", err)
	}
	if len(passkeys) >= limits.Passkeys {
		return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("You have %d passkeys already. Remove one first.", len(passkeys)))
	}
	party, err := relyingParty(at)
	if err != nil {
		return "", landfall.Refuse(landfall.CodeValidationFailed, "Passkeys do not work at this address. Use the host name of the service.")
	}
	person := passkeyOwner{operator.Name, passkeys}
	creation, pending, err := party.BeginRegistration(person, webauthn.WithExclusions(webauthn.Credentials(person.WebAuthnCredentials()).CredentialDescriptors()))
	if err == nil {
		options, err = r.offer(ctx, owner.Session.ID, pending, creation.Response)
	}
	if err != nil {
		return "", landfall.UserError("making a passkey", err)
	}
	return options, nil
}

// FinishPasskey stores the passkey that a browser made.
func (r *Sessions) FinishPasskey(ctx context.Context, from Origin, session landfall.Session, at ConsoleAddress, name, response string) error {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxPasskeyName {
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Give the passkey a name of at most %d characters, such as the device it is on.", maxPasskeyName))
	}
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The passkey was not accepted, or it took too long. Start again.")
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(response))
	if err != nil {
		return refusal
	}
	pending, err := r.take(ctx, session.ID, parsed.Response.CollectedClientData.Challenge)
	if errors.Is(err, landfall.ErrNotFound) {
		return refusal
	}
	if err != nil {
		return landfall.UserError("making a passkey", err)
	}
	party, err := relyingParty(at)
	if err != nil {
		return refusal
	}
	credential, err := party.CreateCredential(passkeyOwner{name: session.Operator}, pending, parsed)
	if err != nil {
		return refusal
	}
	stored, err := json.Marshal(credential)
	if err != nil {
		return landfall.UserError("making a passkey", err)
	}
	err = r.store.Update(ctx, func(tx landfall.Tx) error {
		operator, err := tx.Operator(ctx, session.Operator) // locks it, so that the number is right
		if err != nil {
			return err
		}
		// The sign-in may have been reset while the request was on its way.
		if _, _, err := tx.Session(ctx, session.Hash, r.options.Idle); errors.Is(err, landfall.ErrNotFound) {
			return refusal
		} else if err != nil {
			return err
		}
		passkeys, err := tx.Passkeys(ctx, operator.Name)
		if err != nil {
			return err
		}
		if operator.Disabled || len(passkeys) >= limits.Passkeys {
			return refusal
		}
		if err := tx.AddPasskey(ctx, landfall.Passkey{Operator: operator.Name, Name: name, ID: credential.ID, Credential: string(stored)}); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, entry(operator.Name, from, "operator.passkey", "added "+name))
	})
	if errors.Is(err, landfall.ErrExists) {
		return landfall.Refuse(landfall.CodeValidationFailed, "You have a passkey of that name, or this device has one already. Start again with another name.")
	}
	if err != nil {
		return landfall.UserError("making a passkey", err)
	}
	return nil
}

// RemovePasskey removes a passkey of a signed-in operator.
func (r *Sessions) RemovePasskey(ctx context.Context, owner Owner, name string) error {
	operator, err := r.Prove(ctx, owner)
	if err != nil {
		return err
	}
	return r.change(ctx, operator, func(tx landfall.Tx, now landfall.Operator) error {
		err := tx.RemovePasskey(ctx, now.Name, name)
		if errors.Is(err, landfall.ErrNotFound) {
			return landfall.Refuse(landfall.CodeValidationFailed, "You have no passkey of that name.")
		}
		if err != nil {
			return err
		}
		return tx.AppendAudit(ctx, entry(now.Name, owner.Origin, "operator.passkey", "removed "+name))
	})
}

// StartPasskeySignIn returns the options with which a browser asks for any passkey of
// this site.
func (r *Sessions) StartPasskeySignIn(ctx context.Context, from Origin, at ConsoleAddress) (options string, err error) {
	if wait := r.limiter.takeSource(from.Address, r.options.Clock()); wait > 0 {
		return "", throttled(wait)
	}
	party, err := relyingParty(at)
	if err != nil {
		return "", errNoPasskey
	}
	assertion, pending, err := party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err == nil {
		options, err = r.offer(ctx, "", pending, assertion.Response)
	}
	if err != nil {
		return "", landfall.UserError("asking for a passkey", err)
	}
	return options, nil
}

// SignInPasskey opens a session for the owner of a passkey.
func (r *Sessions) SignInPasskey(ctx context.Context, request SignIn, at ConsoleAddress, response string) (signedIn SignedIn, err error) {
	now := r.options.Clock()
	attempt := Attempt{Address: request.Address}
	defer func() { r.report(attempt, request.Origin, err, now) }()
	if wait := r.limiter.takeSource(request.Address, now); wait > 0 {
		return SignedIn{}, throttled(wait)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response))
	if err != nil {
		return SignedIn{}, errNoPasskey
	}
	passkey, credential, err := r.checkPasskey(ctx, at, parsed)
	if err != nil {
		return SignedIn{}, err
	}
	request.Name = passkey.Operator
	operator, knownBy, err := r.find(ctx, request)
	if err != nil {
		return SignedIn{}, err
	}
	attempt.Operator, attempt.Known = operator.Name, knownBy != ""
	stored, err := json.Marshal(credential)
	if err != nil {
		return SignedIn{}, landfall.UserError("using a passkey", err)
	}
	return r.open(ctx, operator, request, landfall.SignInPasskey, func(tx landfall.Tx, _ *landfall.Operator) (refusal, err error) {
		// It may have been removed since it was checked.
		if err := tx.UsePasskey(ctx, passkey.ID, string(stored)); errors.Is(err, landfall.ErrNotFound) {
			return errNoPasskey, nil
		} else if err != nil {
			return nil, err
		}
		return nil, nil
	})
}

// checkPasskey checks the answer to a challenge, which it uses up.
func (r *Sessions) checkPasskey(ctx context.Context, at ConsoleAddress, parsed *protocol.ParsedCredentialAssertionData) (passkey landfall.Passkey, credential *webauthn.Credential, err error) {
	pending, err := r.take(ctx, "", parsed.Response.CollectedClientData.Challenge)
	if err == nil {
		err = r.store.View(ctx, func(view landfall.View) (err error) {
			passkey, err = view.Passkey(ctx, parsed.RawID)
			return err
		})
	}
	if errors.Is(err, landfall.ErrNotFound) {
		return passkey, nil, errNoPasskey
	}
	if err != nil {
		return passkey, nil, landfall.UserError("using a passkey", err)
	}
	party, err := relyingParty(at)
	if err != nil {
		return passkey, nil, errNoPasskey
	}
	_, credential, err = party.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) {
		return passkeyOwner{passkey.Operator, []landfall.Passkey{passkey}}, nil
	}, pending, parsed)
	// A counter that went back means that there are two copies of the key.
	if err != nil || credential.Authenticator.CloneWarning {
		return passkey, nil, errNoPasskey
	}
	return passkey, credential, nil
}
