package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"landfall"
)

// operatorColumns are in the order of storedOperator.columns.
const operatorColumns = `o.name, o.role, o.supplier_roles, o.disabled, o.password, o.totp_secret, o.totp_used, o.totp_failures, o.totp_failed_at,
	o.pending_secret, o.pending_session, o.pending_ends_at, o.recovery_codes, o.invitation, o.invitation_ends_at, o.invited_by, o.created_at, o.password_at, o.signed_in_at, o.reset_at`

// storedOperator receives those columns of an operator that need conversion.
type storedOperator struct {
	roles                                            string
	invitation, recovery                             []byte
	created                                          int64
	failed, pending, ends, password, signedIn, reset sql.NullInt64
}

// columns decrypts the TOTP secrets, which are needed in the clear to check a
// code.
func (kept *storedOperator) columns(seals *sealer, o *landfall.Operator) []any {
	row := seals.scan("operator", &o.Name)
	return []any{&o.Name, &o.Role, &kept.roles, &o.Disabled, &o.Password, row.text("totp_secret", &o.TOTPSecret), &o.TOTPUsed, &o.TOTPFailures, &kept.failed,
		row.text("pending_secret", &o.Pending.Secret), &o.Pending.Session, &kept.pending, &kept.recovery, &kept.invitation, &kept.ends, &o.InvitedBy,
		&kept.created, &kept.password, &kept.signedIn, &kept.reset}
}

func (kept *storedOperator) fill(o *landfall.Operator) (err error) {
	o.TOTPFailedAt, o.Pending.EndsAt = instant(kept.failed), instant(kept.pending)
	for hash := range slices.Chunk(kept.recovery, len(o.Invitation)) {
		o.RecoveryCodes = append(o.RecoveryCodes, hashOf(hash))
	}
	o.Invitation, o.InvitationEndsAt = hashOf(kept.invitation), instant(kept.ends)
	o.CreatedAt, o.PasswordAt, o.SignedInAt = moment(kept.created), instant(kept.password), instant(kept.signedIn)
	o.ResetAt = instant(kept.reset)
	o.SupplierRoles, err = landfall.ParseSupplierRoles(kept.roles)
	return err
}

// Operator returns the operator with a name.
func (v *view) Operator(ctx context.Context, name string) (landfall.Operator, error) {
	found, err := v.operators(ctx, `WHERE o.name = $1`, name)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Operators returns all operators, sorted by name.
func (v *view) Operators(ctx context.Context) ([]landfall.Operator, error) {
	return v.operators(ctx, `ORDER BY o.name`)
}

// InvitedOperator returns the operator with an invitation that has not expired.
func (v *view) InvitedOperator(ctx context.Context, invitation [32]byte) (landfall.Operator, error) {
	found, err := v.operators(ctx, `WHERE o.invitation = $1 AND o.invitation_ends_at > {now}`, invitation[:])
	return firstOf(found, err, landfall.ErrNotFound)
}

func (v *view) operators(ctx context.Context, which string, args ...any) ([]landfall.Operator, error) {
	return collect(ctx, v.txSession, func(scan scanner, operator *landfall.Operator) error {
		var kept storedOperator
		if err := scan(kept.columns(v.sealer, operator)...); err != nil {
			return err
		}
		return kept.fill(operator)
	}, `SELECT `+operatorColumns+` FROM operator o `+which, args...)
}

// CreateOperator stores a new operator.
func (t *tx) CreateOperator(ctx context.Context, o landfall.Operator) error {
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO operator
			(name, role, disabled, password, totp_secret, totp_used, totp_failures, totp_failed_at, pending_secret, pending_session, pending_ends_at,
			recovery_codes, invitation, invitation_ends_at, invited_by, supplier_roles, reset_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, {now}) ON CONFLICT (name) DO NOTHING`, t.operatorArgs(o)...))
}

// SaveOperator replaces an existing operator. It sets password_at when the
// password changes.
func (t *tx) SaveOperator(ctx context.Context, o landfall.Operator) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE operator SET role = $2, disabled = $3, password = $4, totp_secret = $5,
			totp_used = $6, totp_failures = $7, totp_failed_at = $8, pending_secret = $9, pending_session = $10, pending_ends_at = $11,
			recovery_codes = $12, invitation = $13, invitation_ends_at = $14, invited_by = $15, supplier_roles = $16, reset_at = $17,
			password_at = CASE WHEN $4 = '' THEN NULL WHEN $4 = password THEN password_at ELSE {now} END
		WHERE name = $1`, t.operatorArgs(o)...))
}

// operatorArgs returns the columns that are set from outside.
func (t *tx) operatorArgs(o landfall.Operator) []any {
	recovery := []byte{}
	for _, hash := range o.RecoveryCodes {
		recovery = append(recovery, hash[:]...)
	}
	return []any{
		o.Name, string(o.Role), o.Disabled, o.Password, t.sealer.sealText(totpSecretLocation, o.TOTPSecret, o.Name), o.TOTPUsed,
		int64(o.TOTPFailures), microsArg(o.TOTPFailedAt), t.sealer.sealText(pendingSecretLocation, o.Pending.Secret, o.Name), o.Pending.Session,
		microsArg(o.Pending.EndsAt), recovery, invitationArg(o), microsArg(o.InvitationEndsAt), o.InvitedBy,
		landfall.FormatSupplierRoles(o.SupplierRoles), microsArg(o.ResetAt),
	}
}

// invitationArg is NULL for no invitation.
func invitationArg(o landfall.Operator) any {
	if !o.Invited() {
		return nil
	}
	return o.Invitation[:]
}

// HasOperators reports whether there is any operator.
func (v *view) HasOperators(ctx context.Context) (has bool, err error) {
	err = v.one(ctx, `SELECT EXISTS (SELECT 1 FROM operator)`, nil, []any{&has})
	return has, err
}

// setUpLinkValid is the condition for a link that can create the first operator.
const setUpLinkValid = `EXISTS (SELECT 1 FROM set_up_link l WHERE l.hash = $1 AND l.ends_at > {now}) AND NOT EXISTS (SELECT 1 FROM operator)`

// SetUpLink looks up a link that can create the first operator.
func (v *view) SetUpLink(ctx context.Context, hash [32]byte) error {
	valid := false
	err := v.one(ctx, `SELECT `+setUpLinkValid, []any{hash[:]}, []any{&valid})
	if err == nil && !valid {
		err = landfall.ErrNotFound
	}
	return err
}

// OfferSetUpLink stores a link and forgets expired ones.
func (t *tx) OfferSetUpLink(ctx context.Context, hash [32]byte, length time.Duration) error {
	if _, err := t.exec(ctx, `DELETE FROM set_up_link WHERE ends_at < {now}`); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO set_up_link (hash, ends_at) VALUES ($1, {now} + $2)`, hash[:], length.Microseconds())
	return err
}

// UseSetUpLink deletes all links. A second caller at the same time waits for the rows
// of the first one and then finds none.
func (t *tx) UseSetUpLink(ctx context.Context, hash [32]byte) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM set_up_link WHERE `+setUpLinkValid, hash[:]))
}

// Devices returns the browsers in which an operator has signed in.
func (v *view) Devices(ctx context.Context, operator string) ([]landfall.Device, error) {
	return collect(ctx, v.txSession, func(scan scanner, device *landfall.Device) error {
		var hash []byte
		err := scan(&hash, &device.Operator, &device.Network)
		device.Hash = hashOf(hash)
		return err
	}, `SELECT hash, operator, network FROM operator_device WHERE operator = $1`, operator)
}

// SaveDevice stores a browser and forgets the ones unused for longest.
func (t *tx) SaveDevice(ctx context.Context, device landfall.Device, most int) error {
	if _, err := t.exec(ctx, `INSERT INTO operator_device (hash, operator, network, seen_at) VALUES ($1, $2, $3, {now})
		ON CONFLICT (operator, hash) DO UPDATE SET network = excluded.network, seen_at = excluded.seen_at`,
		device.Hash[:], device.Operator, device.Network); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM operator_device WHERE operator = $1 AND hash NOT IN
		(SELECT hash FROM operator_device WHERE operator = $1 ORDER BY seen_at DESC, hash LIMIT $2)`, device.Operator, int64(most))
	return err
}

// DropDevices forgets all browsers of an operator.
func (t *tx) DropDevices(ctx context.Context, operator string) error {
	_, err := t.exec(ctx, `DELETE FROM operator_device WHERE operator = $1`, operator)
	return err
}

const sessionColumns = `s.id, s.hash, s.operator, s.address, s.agent, s.method, s.created_at, s.seen_at, s.ends_at`

// sessionAlive is the condition for a session that has not ended. Rows are
// found by hash or operator, so the clock need not be read in a subquery first.
const sessionAlive = `s.ends_at > {now} AND s.seen_at > {now} - $2`

// Session returns the session whose secret has a hash, with its operator.
func (v *view) Session(ctx context.Context, hash [32]byte, idle time.Duration) (landfall.Session, landfall.Operator, error) {
	var session landfall.Session
	var operator landfall.Operator
	var kept storedOperator
	var places storedSession
	err := v.one(ctx, `SELECT `+sessionColumns+`, `+operatorColumns+` FROM operator_session s JOIN operator o ON o.name = s.operator
		WHERE s.hash = $1 AND `+sessionAlive, []any{hash[:], idle.Microseconds()}, append(places.columns(&session), kept.columns(v.sealer, &operator)...))
	if err != nil {
		return landfall.Session{}, landfall.Operator{}, err
	}
	places.fill(&session)
	return session, operator, kept.fill(&operator)
}

// storedSession receives those columns of a session that need conversion.
type storedSession struct {
	hash                []byte
	created, seen, ends int64
}

func (kept *storedSession) columns(s *landfall.Session) []any {
	return []any{&s.ID, &kept.hash, &s.Operator, &s.Address, &s.Agent, &s.Method, &kept.created, &kept.seen, &kept.ends}
}

func (kept *storedSession) fill(s *landfall.Session) {
	s.Hash, s.CreatedAt, s.SeenAt, s.EndsAt = hashOf(kept.hash), moment(kept.created), moment(kept.seen), moment(kept.ends)
}

// Sessions returns the sessions that have not ended.
func (v *view) Sessions(ctx context.Context, operator string, idle time.Duration) ([]landfall.Session, error) {
	return collect(ctx, v.txSession, func(scan scanner, session *landfall.Session) error {
		var kept storedSession
		err := scan(kept.columns(session)...)
		kept.fill(session)
		return err
	}, `SELECT `+sessionColumns+` FROM operator_session s
		WHERE (s.operator = $1 OR $1 = '') AND `+sessionAlive+` ORDER BY s.seen_at DESC, s.id`, operator, idle.Microseconds())
}

// StartSession stores a new session and records that its operator signed in.
func (t *tx) StartSession(ctx context.Context, session landfall.Session, length time.Duration) error {
	if err := orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx,
		`UPDATE operator SET signed_in_at = {now} WHERE name = $1`, session.Operator)); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO operator_session (id, hash, operator, address, agent, created_at, seen_at, ends_at, method)
		VALUES ($1, $2, $3, $4, $5, {now}, {now}, {now} + $6, $7)`,
		session.ID, session.Hash[:], session.Operator, session.Address, session.Agent, length.Microseconds(), session.Method)
	return err
}

// TouchSession records that a session is in use.
func (t *tx) TouchSession(ctx context.Context, id string) error {
	_, err := t.exec(ctx, `UPDATE operator_session SET seen_at = {now} WHERE id = $1 AND seen_at < {now} - 50000000`, id)
	return err
}

// EndSession ends a session at once.
func (t *tx) EndSession(ctx context.Context, id string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM operator_session WHERE id = $1`, id))
}

// EndSessions ends all sessions of an operator but one.
func (t *tx) EndSessions(ctx context.Context, operator, except string) (int, error) {
	count, err := t.exec(ctx, `DELETE FROM operator_session WHERE operator = $1 AND id <> $2`, operator, except)
	return int(count), err
}

// DropEndedSessions deletes sessions that have ended.
func (t *tx) DropEndedSessions(ctx context.Context, limit int) (int, error) {
	count, err := t.exec(ctx, `DELETE FROM operator_session WHERE id IN
		(SELECT id FROM operator_session WHERE ends_at < (SELECT {now}) ORDER BY ends_at LIMIT $1)`, int64(limit))
	return int(count), err
}
