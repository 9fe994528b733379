package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"landfall"
)

// operatorColumns are in the order of keptOperator.columns.
const operatorColumns = `o.name, o.role, o.disabled, o.password, o.totp_secret, o.totp_used, o.invitation, o.invitation_ends_at,
	o.created_at, o.password_at, o.signed_in_at`

// keptOperator is an operator's columns on their way into one.
type keptOperator struct {
	invitation               []byte
	created                  int64
	ends, password, signedIn sql.NullInt64
}

// columns opens the second factor, which has to be known in the clear to be checked.
func (kept *keptOperator) columns(safe *sealer, o *landfall.Operator) []any {
	return []any{&o.Name, &o.Role, &o.Disabled, &o.Password,
		safe.scan("operator", &o.Name).text("totp_secret", &o.TOTPSecret), &o.TOTPUsed, &kept.invitation, &kept.ends,
		&kept.created, &kept.password, &kept.signedIn}
}

func (kept *keptOperator) fill(o *landfall.Operator) {
	o.Invitation, o.InvitationEndsAt = hashOf(kept.invitation), instant(kept.ends)
	o.CreatedAt, o.PasswordAt, o.SignedInAt = moment(kept.created), instant(kept.password), instant(kept.signedIn)
}

// Operator gives one by its name.
func (v *view) Operator(ctx context.Context, name string) (landfall.Operator, error) {
	found, err := v.operators(ctx, `WHERE o.name = $1`, name)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Operators gives all, by name.
func (v *view) Operators(ctx context.Context) ([]landfall.Operator, error) {
	return v.operators(ctx, `ORDER BY o.name`)
}

// InvitedOperator gives the one with an invitation that has not ended.
func (v *view) InvitedOperator(ctx context.Context, invitation [32]byte) (landfall.Operator, error) {
	found, err := v.operators(ctx, `WHERE o.invitation = $1 AND o.invitation_ends_at > {now}`, invitation[:])
	return firstOf(found, err, landfall.ErrNotFound)
}

func (v *view) operators(ctx context.Context, which string, args ...any) ([]landfall.Operator, error) {
	return collect(ctx, v.txSession, func(scan scanner, operator *landfall.Operator) error {
		var kept keptOperator
		err := scan(kept.columns(v.sealer, operator)...)
		kept.fill(operator)
		return err
	}, `SELECT `+operatorColumns+` FROM operator o `+which, args...)
}

// CreateOperator keeps a new one.
func (t *tx) CreateOperator(ctx context.Context, o landfall.Operator) error {
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO operator
			(name, role, disabled, password, totp_secret, totp_used, invitation, invitation_ends_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {now}) ON CONFLICT (name) DO NOTHING`,
		o.Name, string(o.Role), o.Disabled, o.Password, t.sealer.sealText(secondPlace, o.TOTPSecret, o.Name), o.TOTPUsed, invitationArg(o), microsArg(o.InvitationEndsAt)))
}

// SaveOperator replaces an existing one. When its password was chosen is
// written down where it changes.
func (t *tx) SaveOperator(ctx context.Context, o landfall.Operator) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE operator SET role = $2, disabled = $3, password = $4, totp_secret = $5,
			totp_used = $6, invitation = $7, invitation_ends_at = $8,
			password_at = CASE WHEN $4 = '' THEN NULL WHEN $4 = password THEN password_at ELSE {now} END
		WHERE name = $1`,
		o.Name, string(o.Role), o.Disabled, o.Password, t.sealer.sealText(secondPlace, o.TOTPSecret, o.Name), o.TOTPUsed, invitationArg(o), microsArg(o.InvitationEndsAt)))
}

// invitationArg is NULL for no invitation.
func invitationArg(o landfall.Operator) any {
	if !o.Invited() {
		return nil
	}
	return o.Invitation[:]
}

const sessionColumns = `s.id, s.hash, s.operator, s.address, s.agent, s.created_at, s.seen_at, s.ends_at`

// sessionAlive is what holds of a session that is not over. Rows are found by their
// hash or operator, so that the clock need not be looked up first.
const sessionAlive = `s.ends_at > {now} AND s.seen_at > {now} - $2`

// Session gives the session whose secret has a hash, with its operator.
func (v *view) Session(ctx context.Context, hash [32]byte, idle time.Duration) (landfall.Session, landfall.Operator, error) {
	var session landfall.Session
	var operator landfall.Operator
	var kept keptOperator
	var places keptSession
	err := v.one(ctx, `SELECT `+sessionColumns+`, `+operatorColumns+` FROM operator_session s JOIN operator o ON o.name = s.operator
		WHERE s.hash = $1 AND `+sessionAlive, []any{hash[:], idle.Microseconds()}, append(places.columns(&session), kept.columns(v.sealer, &operator)...))
	if err != nil {
		return landfall.Session{}, landfall.Operator{}, err
	}
	places.fill(&session)
	kept.fill(&operator)
	return session, operator, nil
}

// keptSession is a session's columns on their way into one.
type keptSession struct {
	hash                []byte
	created, seen, ends int64
}

func (kept *keptSession) columns(s *landfall.Session) []any {
	return []any{&s.ID, &kept.hash, &s.Operator, &s.Address, &s.Agent, &kept.created, &kept.seen, &kept.ends}
}

func (kept *keptSession) fill(s *landfall.Session) {
	s.Hash, s.CreatedAt, s.SeenAt, s.EndsAt = hashOf(kept.hash), moment(kept.created), moment(kept.seen), moment(kept.ends)
}

// Sessions gives the sessions that are not over.
func (v *view) Sessions(ctx context.Context, operator string, idle time.Duration) ([]landfall.Session, error) {
	return collect(ctx, v.txSession, func(scan scanner, session *landfall.Session) error {
		var kept keptSession
		err := scan(kept.columns(session)...)
		kept.fill(session)
		return err
	}, `SELECT `+sessionColumns+` FROM operator_session s
		WHERE (s.operator = $1 OR $1 = '') AND `+sessionAlive+` ORDER BY s.seen_at DESC, s.id`, operator, idle.Microseconds())
}

// StartSession keeps a new session and notes that its operator has signed in.
func (t *tx) StartSession(ctx context.Context, session landfall.Session, length time.Duration) error {
	if err := orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx,
		`UPDATE operator SET signed_in_at = {now} WHERE name = $1`, session.Operator)); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO operator_session (id, hash, operator, address, agent, created_at, seen_at, ends_at)
		VALUES ($1, $2, $3, $4, $5, {now}, {now}, {now} + $6)`,
		session.ID, session.Hash[:], session.Operator, session.Address, session.Agent, length.Microseconds())
	return err
}

// TouchSession notes that a session is in use.
func (t *tx) TouchSession(ctx context.Context, id string) error {
	_, err := t.exec(ctx, `UPDATE operator_session SET seen_at = {now} WHERE id = $1 AND seen_at < {now} - 50000000`, id)
	return err
}

// EndSession ends one at once.
func (t *tx) EndSession(ctx context.Context, id string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM operator_session WHERE id = $1`, id))
}

// EndSessions ends all of an operator but one.
func (t *tx) EndSessions(ctx context.Context, operator, except string) (int, error) {
	count, err := t.exec(ctx, `DELETE FROM operator_session WHERE operator = $1 AND id <> $2`, operator, except)
	return int(count), err
}

// DropEndedSessions forgets sessions that are over.
func (t *tx) DropEndedSessions(ctx context.Context, limit int) (int, error) {
	count, err := t.exec(ctx, `DELETE FROM operator_session WHERE id IN
		(SELECT id FROM operator_session WHERE ends_at < (SELECT {now}) ORDER BY ends_at LIMIT $1)`, int64(limit))
	return int(count), err
}
