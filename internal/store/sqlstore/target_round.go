package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"landfall"
	"landfall/internal/store/sqlset"
)

// targetTable claims targets. Where the last holder has not reported, requests were
// made whose results are not known.
var targetTable = receiverTable{
	name: "target", key: "code",
	claimable: `SELECT held.code FROM target held
		WHERE held.state = 'active' AND held.due_at <= {now} AND (held.lease_until IS NULL OR held.lease_until < {now})
		AND EXISTS (SELECT 1 FROM target_delivery d WHERE d.target = held.code AND d.due_at <= (SELECT {now}))
		ORDER BY held.due_at, held.code`,
	claimed: `uncertain_at = CASE WHEN lease_token IS NULL THEN uncertain_at ELSE {now} END, `,
}

// ClaimTargets claims targets to deliver to.
func (s *Store) ClaimTargets(ctx context.Context, limit int, lease time.Duration) ([]landfall.TargetClaim, error) {
	codes, token, err := s.claimReceivers(ctx, targetTable, limit, lease)
	if err != nil {
		return nil, err
	}
	claims := make([]landfall.TargetClaim, len(codes))
	for i, code := range codes {
		claims[i] = landfall.TargetClaim{Code: code, Token: token}
	}
	return claims, nil
}

// queuedDelivery is a delivery that is due.
type queuedDelivery struct {
	landfall.TargetDelivery
	account     int64
	previous    int64 // the open delivery of the account before it; 0: none
	after, upTo landfall.ListLengths
	bytes       int64 // a guess
}

// openDelivery is the condition that later deliveries of an account wait for one.
const openDelivery = `(b.state <> 'delivered' OR b.held)`

// dueDeliveries reads which deliveries are next, in the order of an index. The tables are
// joined to these alone: joined in one query, PostgreSQL reads the whole queue.
const dueDeliveries = `SELECT d.id FROM target_delivery d WHERE d.target = $1 AND d.due_at <= (SELECT {now}) ORDER BY d.due_at, d.id LIMIT $2`

// queuedDeliveries reads deliveries with the one that each has to wait for.
const queuedDeliveries = targetDeliveryColumns + `, d.account_id, d.items, length(g.document), p.erased_at IS NOT NULL,
	(SELECT max(b.id) FROM target_delivery b WHERE b.account_id = d.account_id AND b.id < d.id AND ` + openDelivery + `)` +
	targetDeliveryTables + ` JOIN account a ON a.id = d.account_id JOIN staging g ON g.process_id = a.id AND g.revision = a.revision
	WHERE d.id`

// roundBytes is about how much of the documents of a round is in memory.
const roundBytes = 16 << 20

// TargetRound reads what to deliver next.
func (s *Store) TargetRound(ctx context.Context, claim landfall.TargetClaim, limit int) (landfall.TargetRound, error) {
	var round landfall.TargetRound
	err := s.read(ctx, func(v *view) (err error) {
		found, err := collect(ctx, v.txSession, func(scan scanner, target *landfall.Target) error { return scanTarget(scan, target) },
			targetColumns+` FROM target t WHERE t.code = $1 AND t.lease_token = $2 AND t.state = 'active'`, claim.Code, claim.Token)
		if round.Target, err = firstOf(found, err, landfall.ErrFenced); err != nil {
			return err
		}
		ids, err := collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(id) }, dueDeliveries, claim.Code, int64(limit))
		if err != nil {
			return err
		}
		these, list := sqlset.Among(v.engine, ids)
		due, err := collect(ctx, v.txSession, v.readQueued, queuedDeliveries+these+` ORDER BY d.due_at, d.id`, list)
		if err != nil {
			return err
		}
		some := fitting(due)
		round.More = len(ids) == limit || len(some) < len(due)
		if err := v.loadDeliveries(ctx, some); err != nil {
			return err
		}
		round.Chains, round.Blocked = chainsOf(some)
		return nil
	})
	if err != nil {
		return landfall.TargetRound{}, err
	}
	return round, nil
}

// readQueued scans a row of queuedDeliveries.
func (v *view) readQueued(scan scanner, d *queuedDelivery) (err error) {
	var items string
	var previous, size sql.NullInt64
	var erased bool
	if err := v.scanTargetDelivery(scan, &d.TargetDelivery, &d.account, &items, &size, &erased, &previous); err != nil {
		return err
	}
	if erased {
		d.Problem = "the personal data of the account was erased, so there is nothing to deliver"
	}
	d.previous, d.bytes = previous.Int64, size.Int64*unpackedFactor
	if d.after, d.upTo, err = readItems(d.Kind, items); d.Kind != landfall.DeliverAccount {
		d.bytes = 500 * int64(d.upTo.Entries+d.upTo.Notes+d.upTo.Statements+d.upTo.Instructions-
			d.after.Entries-d.after.Notes-d.after.Statements-d.after.Instructions)
	}
	return err
}

// fitting returns the first deliveries, as many as fit into memory, and at least one.
func fitting(due []queuedDelivery) []queuedDelivery {
	room := int64(roundBytes)
	for i := range due {
		if room -= due[i].bytes; room < 0 && i > 0 {
			return due[:i]
		}
	}
	return due
}

// chainsOf groups deliveries by account. A delivery whose predecessor is not in its
// chain is blocked, and so are those behind it.
func chainsOf(due []queuedDelivery) (chains [][]landfall.TargetDelivery, blocked []int64) {
	places := map[int64]int{}
	var accounts [][]*queuedDelivery
	for i := range due {
		place, known := places[due[i].account]
		if !known {
			place = len(accounts)
			places[due[i].account] = place
			accounts = append(accounts, nil)
		}
		accounts[place] = append(accounts[place], &due[i])
	}
	for _, account := range accounts {
		slices.SortFunc(account, func(a, b *queuedDelivery) int { return cmp.Compare(a.ID, b.ID) })
		var chain []landfall.TargetDelivery
		last := int64(0)
		for _, one := range account {
			if one.previous != last {
				blocked = append(blocked, one.ID)
				last = -1 // no later one follows it
				continue
			}
			chain, last = append(chain, one.TargetDelivery), one.ID
		}
		if len(chain) > 0 {
			chains = append(chains, chain)
		}
	}
	return chains, blocked
}

// loadTogether is how many accounts are loaded together.
const loadTogether = 64

func (v *view) loadDeliveries(ctx context.Context, due []queuedDelivery) error {
	var accounts []*queuedDelivery
	for i := range due {
		one := &due[i]
		switch {
		case one.Problem != "":
		case one.Kind == landfall.DeliverAccount:
			accounts = append(accounts, one)
		default:
			if err := v.appendLists(ctx, one.account, &one.Lists, one.after, one.upTo); err != nil {
				return err
			}
		}
	}
	for some := range slices.Chunk(accounts, loadTogether) {
		if err := v.loadAccounts(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// loadAccounts reads whole accounts as they were when their deliveries were written.
func (v *view) loadAccounts(ctx context.Context, some []*queuedDelivery) error {
	byID := make(map[int64]*queuedDelivery, len(some))
	ids := make([]int64, len(some))
	for i, one := range some {
		byID[one.account], ids[i] = one, one.account
	}
	these, list := sqlset.Among(v.engine, ids)
	heads, err := collect(ctx, v.txSession, readHead(""), headColumns+` FROM process p`+headTables+` WHERE p.id`+these, list)
	if err != nil {
		return err
	}
	batch := make([]*wholeHead, len(heads))
	for i := range heads {
		batch[i] = &heads[i]
		heads[i].Key = byID[heads[i].id].Key
	}
	if err := v.loadWhole(ctx, batch); err != nil {
		return err
	}
	for _, head := range batch {
		one := byID[head.id]
		// One account that cannot be read must not hold up the others.
		if err := head.unpack(v.sealer, nil); err != nil {
			one.Problem = "the record of the account cannot be read; see: landfall verify"
			continue
		}
		account := &head.WholeAccount
		had, upTo := &account.Lists, one.upTo
		had.Entries = had.Entries[:min(len(had.Entries), upTo.Entries)]
		had.Notes = had.Notes[:min(len(had.Notes), upTo.Notes)]
		had.Statements = had.Statements[:min(len(had.Statements), upTo.Statements)]
		had.Instructions = had.Instructions[:min(len(had.Instructions), upTo.Instructions)]
		if err := v.appendLists(ctx, head.id, had, had.Lengths(), upTo); err != nil {
			return err
		}
		account.Lengths, account.Balance = upTo, 0
		if last := len(had.Entries) - 1; last >= 0 {
			account.Balance = had.Entries[last].Balance
		}
		one.Account = account
	}
	return nil
}

// errItemsMissing means that an account has fewer items than a delivery says.
var errItemsMissing = errors.New("an account has fewer items than were to be delivered")

// appendLists reads the items of lists between two lengths.
func (v *view) appendLists(ctx context.Context, id int64, into *landfall.AccountLists, after, upTo landfall.ListLengths) error {
	return errors.Join(
		appendPart(ctx, v, id, &into.Entries, entryList, after.Entries, upTo.Entries, v.readEntry),
		appendPart(ctx, v, id, &into.Notes, noteList, after.Notes, upTo.Notes, v.readNote),
		appendPart(ctx, v, id, &into.Statements, statementList, after.Statements, upTo.Statements, v.readStatement),
		appendPart(ctx, v, id, &into.Instructions, instructionList, after.Instructions, upTo.Instructions, v.readInstruction))
}

// appendPart reads the items of one list, a page at a time.
func appendPart[T any](ctx context.Context, v *view, id int64, into *[]T, list accountList, after, upTo int, read func(scanner, *owned[T]) error) error {
	for after < upTo {
		items, err := readPart(ctx, v, id, list, after, upTo, read)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return errItemsMissing
		}
		*into = append(*into, items...)
		after += len(items)
	}
	return nil
}
