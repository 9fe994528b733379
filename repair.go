package landfall

import (
	"cmp"
	"math/bits"
	"slices"
)

// FailureSummary groups the failures of a supplier's accounts.
type FailureSummary struct {
	Accounts int            // with a failure
	Groups   []FailureGroup // most frequent first
	Causes   []FailureCause // likewise
	Repairs  []Repair
}

// FailureCause counts the failures with one code, in any attribute.
type FailureCause struct {
	Code      string
	Accounts  int      // how many have it
	Retryable int      // how many of those are staged, so that a run can try them again
	Attrs     []string // where it was found, the first few
	Example   string   // the first account
}

// Repair is a short list of groups. When all of them are fixed, this many accounts
// have no known mistake left.
type Repair struct {
	Percent  int // of the failed accounts, at least
	Accounts int
	Groups   []FailureGroup
}

// Steps returns each repair once, with the largest share that it fixes: a list
// that fixes most of the accounts is often the shortest for half of them too.
func (s FailureSummary) Steps() []Repair {
	steps := make([]Repair, 0, len(s.Repairs))
	for i, repair := range s.Repairs {
		// Of lists of the same length the best is chosen, so these are the same.
		if i+1 < len(s.Repairs) && len(s.Repairs[i+1].Groups) == len(repair.Groups) {
			continue
		}
		steps = append(steps, repair)
	}
	return steps
}

// shares are the percentages of accounts that a summary finds repairs for.
var shares = []int{50, 80, 95}

// FailureTally counts failures by group.
type FailureTally struct {
	accounts int
	index    map[FailureGroup]int // code and attr alone → number of the group
	groups   []FailureGroup
	causes   map[string]*FailureCause
	sets     map[string]int // which groups an account has → how many accounts
}

// These limits bound the memory, because callers can invent fields. Beyond
// mostGroups the groups of a code share one. Beyond mostSets accounts with a
// new combination of mistakes are counted, but no repair includes them. A
// repair of more than mostRepairs groups would be too long to be useful.
const (
	maxGroups     = 5_000
	maxSets       = 20_000
	maxRepairs    = 50
	maxCauseAttrs = 5
)

// Add counts the failure of one account.
func (t *FailureTally) Add(failure Failure) { t.AddAccount("", failure) }

// AddAccount counts the failure of an account, which may be the example of a cause.
func (t *FailureTally) AddAccount(external string, failure Failure) {
	if t.index == nil {
		t.index, t.sets, t.causes = map[FailureGroup]int{}, map[string]int{}, map[string]*FailureCause{}
	}
	t.addCauses(external, &failure)
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
		if !known && len(t.groups) >= maxGroups {
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
	if _, known := t.sets[string(set)]; known || len(t.sets) < maxSets {
		t.sets[string(set)]++
	}
}

// addCauses counts each code of a failure once.
func (t *FailureTally) addCauses(external string, failure *Failure) {
	var counted []string
	for _, place := range failure.places() {
		cause := t.causes[place.Code]
		if cause == nil {
			if len(t.causes) >= maxGroups {
				continue
			}
			cause = &FailureCause{Code: place.Code, Example: external}
			t.causes[place.Code] = cause
		}
		if attr := AttrPattern(place.Attr); attr != "" && len(cause.Attrs) < maxCauseAttrs && !slices.Contains(cause.Attrs, attr) {
			cause.Attrs = append(cause.Attrs, attr)
		}
		if slices.Contains(counted, place.Code) {
			continue
		}
		counted = append(counted, place.Code)
		cause.Accounts++
		if !failure.AtStaging && failure.Posting == "" {
			cause.Retryable++
		}
	}
}

// Summary returns the summary of the failures added so far.
func (t *FailureTally) Summary() FailureSummary {
	summary := FailureSummary{Accounts: t.accounts, Groups: slices.Clone(t.groups)}
	byFrequency(summary.Groups)
	for _, cause := range t.causes {
		summary.Causes = append(summary.Causes, *cause)
	}
	slices.SortFunc(summary.Causes, func(a, b FailureCause) int {
		return cmp.Or(cmp.Compare(b.Accounts, a.Accounts), cmp.Compare(a.Code, b.Code))
	})
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

// fewGroups is up to how many groups repair tries every combination.
const fewGroups = 12

// repair finds the shortest list of groups that fixes a number of accounts, or
// a short one when there are too many groups to try all combinations.
func (t *FailureTally) repair(wanted int) Repair {
	chosen := map[rune]bool{}
	if len(t.groups) <= fewGroups {
		chosen = t.tryAll(wanted)
	} else {
		for freed := 0; freed < wanted; {
			best := t.bestStep(chosen)
			if best == "" || len(chosen) > maxRepairs {
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

// bestStep returns the set that fixes the most accounts per group it adds.
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

// tryAll tries every combination of groups and returns the shortest that fixes
// enough accounts; of those, the one that fixes the most.
func (t *FailureTally) tryAll(wanted int) map[rune]bool {
	best, most, length := uint(0), 0, len(t.groups)+1
	for choice := range uint(1) << len(t.groups) {
		if bits.OnesCount(choice) > length {
			continue
		}
		freed := 0
		for set, count := range t.sets {
			if withinChoice(set, choice) {
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

func withinChoice(set string, choice uint) bool {
	for _, number := range set {
		if choice>>uint(number)&1 == 0 { //nolint:gosec // likewise
			return false
		}
	}
	return true
}
