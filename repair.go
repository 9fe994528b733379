package landfall

import (
	"cmp"
	"math/bits"
	"slices"
)

// FailureSummary says what keeps a supplier's accounts back.
type FailureSummary struct {
	Accounts int            // how many do not get on
	Groups   []FailureGroup // the most frequent first
	Repairs  []Repair
}

// Repair is a short list of groups: when all of them are mended, this many
// accounts have no known mistake left.
type Repair struct {
	Percent  int // of the accounts that do not get on, at least
	Accounts int
	Groups   []FailureGroup
}

// Steps gives the repairs as somebody takes them, each list once and under the
// largest share that it frees: a list that frees most of the accounts often is
// the shortest for half of them too.
func (s FailureSummary) Steps() []Repair {
	steps := make([]Repair, 0, len(s.Repairs))
	for i, repair := range s.Repairs {
		// Of lists of one length the best is taken, so that these are the same.
		if i+1 < len(s.Repairs) && len(s.Repairs[i+1].Groups) == len(repair.Groups) {
			continue
		}
		steps = append(steps, repair)
	}
	return steps
}

// shares are the parts of the accounts a summary finds repairs for.
var shares = []int{50, 80, 95}

// FailureTally gathers failures one by one and keeps only what differs.
type FailureTally struct {
	accounts int
	index    map[FailureGroup]int // code and attr alone → number of the group
	groups   []FailureGroup
	sets     map[string]int // which groups an account has → how many accounts
}

// A caller can invent fields and ways to get them wrong. Groups beyond the
// bound share one for each code; accounts whose mistakes come together in yet
// another way count, but no repair is known to free them; and a list of
// repairs longer than the last bound would help nobody.
const (
	mostGroups  = 5_000
	mostSets    = 20_000
	mostRepairs = 50
)

// Add counts the failure of one account.
func (t *FailureTally) Add(failure Failure) {
	if t.index == nil {
		t.index, t.sets = map[FailureGroup]int{}, map[string]int{}
	}
	places := make([]FailureGroup, 0, len(failure.Violations)+1)
	for _, violation := range failure.Violations {
		places = append(places, FailureGroup{Code: violation.Code, Attr: AttrPattern(violation.Attr)})
	}
	if len(places) == 0 {
		places = append(places, FailureGroup{Code: failure.Code})
	}
	var set []rune
	for _, place := range places {
		number, known := t.index[place]
		if !known && len(t.groups) >= mostGroups {
			place.Attr = "*"
			number, known = t.index[place]
		}
		if !known {
			number = len(t.groups)
			t.index[place] = number
			t.groups = append(t.groups, place)
		}
		if !slices.Contains(set, rune(number)) { //nolint:gosec // there are a few dozen groups
			set = append(set, rune(number)) //nolint:gosec // likewise
		}
	}
	for _, number := range set {
		t.groups[number].Accounts++
		if len(set) == 1 {
			t.groups[number].Alone++
		}
	}
	t.accounts++
	slices.Sort(set)
	if _, known := t.sets[string(set)]; known || len(t.sets) < mostSets {
		t.sets[string(set)]++
	}
}

// Summary gives what was gathered.
func (t *FailureTally) Summary() FailureSummary {
	summary := FailureSummary{Accounts: t.accounts, Groups: slices.Clone(t.groups)}
	byFrequency(summary.Groups)
	for _, percent := range shares {
		if repair := t.repair((t.accounts*percent + 99) / 100); len(repair.Groups) > 0 {
			repair.Percent = percent
			summary.Repairs = append(summary.Repairs, repair)
		}
	}
	return summary
}

func byFrequency(groups []FailureGroup) {
	slices.SortFunc(groups, func(a, b FailureGroup) int {
		return cmp.Or(cmp.Compare(b.Accounts, a.Accounts), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Attr, b.Attr))
	})
}

// fewGroups is up to how many groups every choice of them is tried.
const fewGroups = 12

// repair finds the shortest list of groups that frees so many accounts, or
// where there are too many groups to try all, a short one.
func (t *FailureTally) repair(wanted int) Repair {
	chosen := map[rune]bool{}
	if len(t.groups) <= fewGroups {
		chosen = t.tryAll(wanted)
	} else {
		for freed := 0; freed < wanted; {
			best := t.bestStep(chosen)
			if best == "" || len(chosen) > mostRepairs {
				return Repair{}
			}
			for _, number := range best {
				chosen[number] = true
			}
			freed = t.freed(chosen)
		}
	}
	repair := Repair{Accounts: t.freed(chosen)}
	for number := range chosen {
		repair.Groups = append(repair.Groups, t.groups[number])
	}
	byFrequency(repair.Groups)
	return repair
}

func (t *FailureTally) freed(chosen map[rune]bool) (accounts int) {
	for set, count := range t.sets {
		if missing(set, chosen) == 0 {
			accounts += count
		}
	}
	return accounts
}

func missing(set string, chosen map[rune]bool) (count int) {
	for _, number := range set {
		if !chosen[number] {
			count++
		}
	}
	return count
}

// bestStep gives the set that frees the most accounts for each group it adds.
func (t *FailureTally) bestStep(chosen map[rune]bool) (best string) {
	gain, cost := 0, 1
	for set, count := range t.sets {
		added := missing(set, chosen)
		if added == 0 {
			continue
		}
		if more := cmp.Compare(count*cost, gain*added); more > 0 || more == 0 && set < best {
			best, gain, cost = set, count, added
		}
	}
	return best
}

// tryAll tries every choice of groups, the shorter ones first, and gives the
// one of those that frees the most.
func (t *FailureTally) tryAll(wanted int) map[rune]bool {
	best, most, length := uint(0), 0, len(t.groups)+1
	for choice := range uint(1) << len(t.groups) {
		if bits.OnesCount(choice) > length {
			continue
		}
		freed := 0
		for set, count := range t.sets {
			if within(set, choice) {
				freed += count
			}
		}
		if freed >= wanted && (bits.OnesCount(choice) < length || freed > most) {
			best, most, length = choice, freed, bits.OnesCount(choice)
		}
	}
	chosen := map[rune]bool{}
	for number := range t.groups {
		if best>>number&1 == 1 {
			chosen[rune(number)] = true
		}
	}
	return chosen
}

func within(set string, choice uint) bool {
	for _, number := range set {
		if choice>>uint(number)&1 == 0 { //nolint:gosec // likewise
			return false
		}
	}
	return true
}
