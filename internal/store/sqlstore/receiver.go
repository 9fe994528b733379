package sqlstore

import (
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
)

// receiverTable is a table of receivers that one replica at a time delivers to,
// under a lease: webhooks and targets.
type receiverTable struct {
	name, key string
	// claimable selects the keys of receivers that are due and have something to
	// deliver, as held. It ends before the limit.
	claimable string
	// claimed is what a claim sets besides the lease.
	claimed string
}

// claimReceivers claims receivers and returns their keys and the token of all of
// them. Most of the time there are none, and finding that out writes nothing.
func (s *Store) claimReceivers(ctx context.Context, r receiverTable, limit int, lease time.Duration, args ...any) (keys []string, token string, err error) {
	before := len(args)
	number := func(after int) string { return "$" + strconv.Itoa(before+after) }
	due := r.claimable + ` LIMIT ` + number(1)
	scanKey := func(scan scanner, key *string) error { return scan(key) }
	args = append(args, int64(limit))
	err = s.read(ctx, func(v *view) (err error) {
		keys, err = collect(ctx, v.txSession, scanKey, due, args...)
		return err
	})
	if err != nil || len(keys) == 0 {
		return nil, "", err
	}
	token = rand.Text()
	err = s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
		// Check again while claiming: another replica may have claimed some of
		// them since. Rows that another replica has locked are skipped.
		keys, err = collect(ctx, t.txSession, scanKey, `UPDATE `+r.name+` SET `+r.claimed+`lease_token = `+number(2)+`, lease_until = {now} + `+number(3)+
			` WHERE `+r.key+` IN (`+due+` {for_update_skip}) RETURNING `+r.key, append(slices.Clip(args), token, lease.Microseconds())...)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return keys, token, nil
}

// receiverRound is what a round changes in the row of its receiver.
type receiverRound struct {
	key, token        string
	pause             time.Duration
	delivered         int
	failed, keepClaim bool
	lease             time.Duration
	// also sets other columns, with parameters from $6 on.
	also string
	args []any
}

// saveReceiver changes the row of a receiver after a round. If the lease belongs to
// another sender, it returns ErrFenced.
func (t *tx) saveReceiver(ctx context.Context, r receiverTable, round receiverRound) error {
	text := strings.Builder{}
	text.WriteString(`UPDATE ` + r.name + ` SET due_at = {now} + $3, delivered = delivered + $4`)
	switch {
	case round.failed:
		text.WriteString(`, attempts = attempts + 1, failing_at = coalesce(failing_at, {now})`)
	case round.delivered > 0:
		text.WriteString(`, attempts = 0, failing_at = NULL, delivered_at = {now}`)
	}
	if round.keepClaim {
		text.WriteString(`, lease_until = {now} + $5`)
	} else {
		// The parameter is used in any case, so that its type is known.
		text.WriteString(`, lease_token = NULL, lease_until = CASE WHEN CAST($5 AS BIGINT) < 0 THEN lease_until END`)
	}
	text.WriteString(round.also + ` WHERE ` + r.key + ` = $1 AND lease_token = $2`)
	args := append([]any{round.key, round.token, round.pause.Microseconds(), int64(round.delivered), round.lease.Microseconds()}, round.args...)
	return orIfUnchanged(landfall.ErrFenced)(t.exec(ctx, text.String(), args...))
}
