package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	mathrand "math/rand/v2"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/store/sqlset"
)

// Short names for the calls of a batch.
type (
	claimCall = pendingCall[landfall.ClaimRequest, landfall.ClaimOutcome]
	openClaim = pendingCalls[landfall.ClaimRequest, landfall.ClaimOutcome]
)

// Claim grants the exclusive right to create one account.
func (s *Store) Claim(ctx context.Context, request landfall.ClaimRequest) (landfall.ClaimOutcome, error) {
	for _, text := range []string{request.Key.Supplier, request.Key.External, request.Team} {
		if !storable(text) {
			return landfall.ClaimOutcome{}, errUnstorable
		}
	}
	outcome, err := s.claimOrCount(ctx, request)
	if err != nil || outcome.Verdict != landfall.ClaimGranted {
		return outcome, err
	}
	claim := &outcome.Claim
	// A claim that cannot be used is released at once. Otherwise its lease
	// would block the account for anyone who stages it again.
	if purged(claim) {
		return landfall.ClaimOutcome{Verdict: landfall.ClaimDocumentRemoved}, s.dropClaim(ctx, *claim)
	}
	if claim.Document, err = s.sealer.openDocument(claim.Key, claim.Document, claim.Hash); err != nil {
		return landfall.ClaimOutcome{}, errors.Join(documentError(claim.Key, claim.Revision, err), s.dropClaim(ctx, *claim))
	}
	return outcome, nil
}

// purged reports whether the document of a process was purged. Its hash, which
// other stagings are compared with, was removed too, so that the same document
// can be staged again.
func purged(claim *landfall.Claim) bool { return claim.Hash == [32]byte{} }

// claimOrCount claims without counting first, and counts only if there is a
// limit.
func (s *Store) claimOrCount(ctx context.Context, request landfall.ClaimRequest) (landfall.ClaimOutcome, error) {
	if request.ServiceLimit == 0 && !request.Limited {
		joined := s.claims
		if request.DryRun {
			joined = s.peeks
		}
		outcome, err := runVerb(ctx, s, joined, request.Key, claimWeight, request)
		if err != nil || outcome.Verdict != claimMustCount {
			return outcome, err
		}
	}
	var outcome landfall.ClaimOutcome
	err := whileBusy(ctx, func() (busy bool, err error) {
		outcome, err = runVerb(ctx, s, s.counted, request.Key, claimWeight, request)
		return outcome.Verdict == claimMustWait, err
	})
	return outcome, err
}

// whileBusy repeats a try as long as another transaction counts the same
// claims, which takes a moment. It gives up after the time that a call may wait
// for its turn.
func whileBusy(ctx context.Context, try func() (busy bool, err error)) error {
	for began := time.Now(); ; {
		busy, err := try()
		if err != nil || !busy {
			return err
		}
		if time.Since(began) > limits.QueueWait {
			return landfall.ErrOverloaded
		}
		select {
		case <-time.After(limits.CountRetry/2 + mathrand.N(limits.CountRetry)): //nolint:gosec // only to come at another time than the others
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dropClaim ends a claim as if it had never been granted.
func (s *Store) dropClaim(ctx context.Context, claim landfall.Claim) error {
	return s.update(ctx, claim.Key, func(t *tx) error { return t.dropClaim(ctx, claim) })
}

// dropClaim checks the token, so that a holder that was suspended for too long
// does not release a claim that belongs to another by now.
func (t *tx) dropClaim(ctx context.Context, claim landfall.Claim) error {
	if claim.DryRun {
		return t.endDryRunLease(ctx, claim.Token)
	}
	_, err := t.exec(ctx, `UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL`+whereClaimed,
		claim.Key.Supplier, claim.Key.External, claim.Token)
	return err
}

// claimMustCount is the verdict on a claim whose supplier has a limit: only
// s.counted can grant it. claimMustWait is the verdict on one that another
// transaction keeps from being counted. Neither leaves this package.
const (
	claimMustCount landfall.ClaimVerdict = 255 - iota
	claimMustWait
)

// claimWeight is an estimate of the size of the document that a claim reads.
const claimWeight = 4 << 10

// claim grants the claims of a batch that need no counting. If a crash loses a
// granted claim, the process is simply free again. So the commit waits for the
// disk only if a caller was told the state of a process.
func (t *tx) claim(ctx context.Context, batch []*claimCall) error {
	open := sqlset.NewPending(batch)
	// Between granting and refusing, a lease may end or a supplier may be
	// opened. Then there is no reason for the refusal, and only those calls are
	// tried again.
	for range 3 {
		if err := t.grant(ctx, grantQuery, open); err != nil {
			return err
		}
		if len(open.ByKey) == 0 {
			break
		}
		counted, err := t.refuseClaims(ctx, open)
		if err != nil {
			return err
		}
		for _, one := range counted {
			open.Set(one, landfall.ClaimOutcome{Verdict: claimMustCount})
		}
		if len(open.ByKey) == 0 {
			break
		}
	}
	if len(open.ByKey) > 0 {
		return landfall.ErrUnavailable
	}
	t.commitLazilyIfGranted(batch)
	return nil
}

// commitLazilyIfGranted makes the commit not wait for the disk if the batch
// contains only claims that were granted or found no slot. Any other answer
// depends on what was read, which must stay true.
func (t *tx) commitLazilyIfGranted(batch []*claimCall) {
	for _, one := range batch {
		if one.Outcome.Verdict != landfall.ClaimGranted && one.Outcome.Verdict != landfall.ClaimOverLimit {
			return
		}
	}
	t.engine.AsyncCommit()
}

const (
	// grantText claims the processes that can be claimed: the supplier is
	// Ongoing, the team exists and the process is free. The document comes from
	// the statement's snapshot. If the process changed while the statement
	// waited for it, the document is missing and is read afterwards.
	grantText = `
	UPDATE process SET state = 'claimed', claim_token = w.token, claim_until = {now} + w.lease
	FROM wanted w JOIN supplier s ON s.code = w.supplier JOIN team m ON m.name = w.team`
	grantCondition = `
	WHERE process.supplier_id = s.id AND process.external = w.external AND s.status = 'Ongoing' AND ` + whereFree
	grantReturning = ` RETURNING process.claim_token, process.id, process.revision,
		process.hash, (SELECT g.document FROM staging g WHERE g.process_id = process.id AND g.revision = process.revision)`
)

// grantQuery skips suppliers with a limit. countedGrantQuery is for transactions that
// hold the locks of the limits: it grants a call if there is a slot for it after
// the calls before it, which have lower places.
var (
	grantQuery        = newGrantQuery(grantText + grantCondition + ` AND s.concurrency_limit = 0` + grantReturning)
	countedGrantQuery = newGrantQuery(grantText + `
	LEFT JOIN (SELECT live.supplier_id, count(*) AS claims FROM (` + liveClaims + `) live GROUP BY live.supplier_id) own ON own.supplier_id = s.id
	CROSS JOIN (SELECT count(*) AS claims FROM (` + liveClaims + `) live) total` + grantCondition + `
		AND (s.concurrency_limit = 0 OR s.concurrency_limit >= w.place + coalesce(own.claims, 0))
		AND (w.most = 0 OR w.most >= w.place_of_all + total.claims)` + grantReturning)
)

func newGrantQuery(text string) *sqlset.Query {
	made := sqlset.NewQuery(text, "supplier text", "external text", "team text", "token text", "lease bigint",
		"place bigint", "most bigint", "place_of_all bigint")
	return &made
}

// grant claims the processes of the open calls that can be claimed, and sets
// the outcome of those calls.
func (t *tx) grant(ctx context.Context, query *sqlset.Query, open *openClaim) error {
	tokens := make(map[string]*claimCall, len(open.ByKey))
	places, all := map[string]int64{}, int64(0)
	text, args := query.For(t.engine, open.Rows(query.Width(), func(args []any, one *claimCall) []any {
		token := rand.Text()
		tokens[token] = one
		places[one.Key.Supplier]++
		all++
		return append(args, one.Key.Supplier, one.Key.External, one.Wanted.Team, token, one.Wanted.Lease.Microseconds(),
			places[one.Key.Supplier], int64(one.Wanted.ServiceLimit), all)
	}))
	rows, err := t.returning(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	missing := map[int64]*claimCall{}
	for rows.Next() {
		var token string
		var process, revision int64
		var document, hash []byte
		if err := rows.Scan(&token, &process, &revision, &hash, &document); err != nil {
			return t.fail(err)
		}
		one := tokens[token]
		claim := landfall.Claim{
			Key: one.Key, Token: token, Team: one.Wanted.Team, Revision: int(revision), Lease: one.Wanted.Lease,
			Process: process, Hash: t.sealer.openHash(one.Key, hash),
		}
		if document == nil {
			missing[process] = one
		} else {
			claim.Document = document
		}
		open.Set(one, landfall.ClaimOutcome{Verdict: landfall.ClaimGranted, Claim: claim})
	}
	if err := t.fail(rows.Err()); err != nil {
		return err
	}
	// The transaction has one connection, which accepts the next query only
	// after these rows are closed.
	_ = rows.Close()
	for process, one := range missing {
		claim := &one.Outcome.Claim
		if err := t.one(ctx, `SELECT document FROM staging WHERE process_id = $1 AND revision = $2`,
			[]any{process, int64(claim.Revision)}, []any{&claim.Document}); err != nil {
			return err
		}
	}
	return nil
}

// claimReasonsQuery reads the state of the keys that were not granted.
var claimReasonsQuery = sqlset.NewQuery(`
	SELECT w.supplier, w.external, coalesce(s.status, ''), coalesce(s.concurrency_limit, 0), m.name,
		`+currentState+`, p.account_number, p.claim_until - {now}
	FROM wanted w LEFT JOIN supplier s ON s.code = w.supplier LEFT JOIN team m ON m.name = w.team
	LEFT JOIN process p ON p.supplier_id = s.id AND p.external = w.external`, "supplier text", "external text", "team text")

// refuseClaims sets the outcome of the open calls that cannot be granted, and
// returns the calls whose claims must be counted first. Calls that it leaves
// open could be granted after all.
func (t *tx) refuseClaims(ctx context.Context, open *openClaim) (counted []*claimCall, err error) {
	if len(open.ByKey) == 0 {
		return nil, nil
	}
	text, args := claimReasonsQuery.For(t.engine, open.Rows(3, func(args []any, one *claimCall) []any {
		return append(args, one.Key.Supplier, one.Key.External, one.Wanted.Team)
	}))
	rows, err := t.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var supplier, external, team, state, number sql.NullString
		var status landfall.SupplierStatus
		var limit int64
		var left sql.NullInt64
		if err := rows.Scan(&supplier, &external, &status, &limit, &team, &state, &number, &left); err != nil {
			return nil, t.fail(err)
		}
		one := open.ByKey[landfall.Key{Supplier: supplier.String, External: external.String}]
		if one == nil {
			continue // padding
		}
		switch verdict := claimVerdict(status, team.Valid, landfall.ProcessState(state.String)); {
		case verdict != 0:
			open.Set(one, landfall.ClaimOutcome{Verdict: verdict, AccountNumber: number.String, LeaseLeft: remaining(left)})
		case limit > 0:
			counted = append(counted, one)
		}
	}
	return counted, t.fail(rows.Err())
}

// claimVerdict returns why a process cannot be claimed; 0 means that it can.
func claimVerdict(status landfall.SupplierStatus, team bool, state landfall.ProcessState) landfall.ClaimVerdict {
	switch {
	// If there are several reasons, report the most permanent one: an account
	// that exists stays, whatever the status of its supplier is now.
	case state == landfall.Imported:
		return landfall.ClaimImported
	case status != landfall.Ongoing:
		return landfall.ClaimNoSupplier
	case state == "":
		return landfall.ClaimNotStaged
	case state == landfall.Skipped:
		return landfall.ClaimSkipped
	case !team:
		return landfall.ClaimNoTeam
	case state == landfall.Claimed:
		return landfall.ClaimTaken
	}
	return 0
}
