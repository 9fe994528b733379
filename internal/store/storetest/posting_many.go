package storetest

import (
	"fmt"
	"testing"
	"time"

	"landfall"
)

// readsLittle posts to an account that has hundreds of equal notes and hundreds
// of instructions. Every existing one must be found, and few others read.
func readsLittle(t *testing.T, store landfall.Store) {
	const many, enough = 400, 80
	importAccounts(t, store, testKey.External)
	// The notes are a second apart, so that each can be found by its time.
	from := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(number int) time.Time { return from.Add(time.Duration(number) * time.Second) }
	var notes []landfall.Note
	var instructions []landfall.Instruction
	for number := range many {
		// The first half of the notes has one text and the second half another.
		notes = append(notes, landfall.Note{Body: fmt.Sprint(2 * number / many), HasBody: true, CreatedAt: at(number)})
		instructions = append(instructions, landfall.Instruction{Vendor: "V", Reference: fmt.Sprint(number), Type: "CARD"})
	}
	post(t, store, landfall.Posting{Key: testKey, Decide: func(landfall.AccountState) (landfall.Additions, error) {
		return landfall.Additions{Notes: notes, Instructions: instructions}, nil
	}}, landfall.Posted)

	var seen landfall.AccountState
	ask := func(posting landfall.Posting) {
		t.Helper()
		posting.Key = testKey
		posting.Decide = func(books landfall.AccountState) (landfall.Additions, error) {
			seen = books
			return landfall.Additions{}, nil
		}
		post(t, store, posting, landfall.Posted)
		// A few more than the one note may be read, but not all with the same text.
		if len(seen.Notes) > enough || len(seen.Instructions) > 1 {
			t.Errorf("%d notes and %d instructions were read", len(seen.Notes), len(seen.Instructions))
		}
	}
	has := func(body string, when time.Time) bool {
		for _, note := range seen.Notes {
			if note.Body == body && note.CreatedAt.Equal(when) {
				return true
			}
		}
		return false
	}
	for _, number := range []int{0, 70, 199, 200, 399} {
		body := fmt.Sprint(2 * number / many)
		ask(landfall.Posting{Notes: []landfall.Note{{Body: body, HasBody: true, CreatedAt: at(number)}}})
		if !has(body, at(number)) {
			t.Errorf("note %d was not found by its time", number)
		}
		// The text exists hundreds of times, but not with this time. Taking one of
		// those notes for this one would drop a note that was just written.
		ask(landfall.Posting{Notes: []landfall.Note{{Body: body, HasBody: true, CreatedAt: at(many + 1)}}})
		if has(body, at(many+1)) {
			t.Errorf("a note that was never there was found")
		}
		// A note sent without a time equals the first one with its text. It must always
		// be that one, or the response would change from one posting to the next.
		ask(landfall.Posting{Notes: []landfall.Note{{Body: body, HasBody: true}}})
		for _, note := range seen.Notes {
			if note.Body == body {
				if first := at(many / 2 * (2 * number / many)); !note.CreatedAt.Equal(first) {
					t.Errorf("the first note that says %s is of %s, want %s", body, note.CreatedAt, first)
				}
				break
			}
		}
		if len(seen.Notes) == 0 {
			t.Errorf("no note says %s", body)
		}
		ask(landfall.Posting{Instructions: instructions[number : number+1]})
		if len(seen.Instructions) != 1 || seen.Instructions[0] != instructions[number] {
			t.Errorf("instruction %d is %+v", number, seen.Instructions)
		}
	}
	ask(landfall.Posting{Instructions: []landfall.Instruction{{Vendor: "V", Reference: "another"}}})
	if len(seen.Instructions) != 0 {
		t.Errorf("an instruction that was never there is %+v", seen.Instructions)
	}
}
