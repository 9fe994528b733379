package convert

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The fast paths must give the same result as the general path.

func TestFastDatePathMatchesSlowPath(t *testing.T) {
	usual, err := newPattern("DD.MM.YYYY")
	if err != nil {
		t.Fatal(err)
	}
	turned := 0
	try := func(text string) {
		t.Helper()
		got, short := usual.turn(nil, []byte(text))
		at, long := usual.read([]byte(text))
		if short && (!long || string(got) != string(at.appendDay(nil))) {
			t.Errorf("%q became %s, and is a day: %v", text, got, long)
		}
		if short {
			turned++
		}
	}
	for _, year := range []int{0, 1, 1900, 2000, 2023, 2024, 9999} {
		for month := range 14 {
			for day := range 33 {
				try(fmt.Sprintf("%02d.%02d.%04d", day, month, year))
			}
		}
	}
	if want := 6 * 12 * 28; turned != want { // the year 0 is none
		t.Errorf("%d days were turned, want %d", turned, want)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 50_000 {
		text := []byte("01.02.2003")
		text[random.IntN(len(text))] = byte(random.IntN(256))
		try(string(text))
	}
}

func TestFastNumberPathMatchesSlowPath(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	short := 0
	for range 300_000 {
		f := numberFormat{decimal: ",."[random.IntN(2)], minor: random.IntN(4), reversed: random.IntN(4) == 0}
		text := make([]byte, 1+random.IntN(7))
		for i := range text {
			text[i] = "0012345678,.-+ "[random.IntN(15)]
		}
		places := random.IntN(4) - 1
		got, is := f.copyNumber([]byte("x"), text, places)
		if !is {
			continue
		}
		short++
		if want := f.read([]byte("x"), text, false); string(got) != string(want) || decimalsOf(want[1:]) > max(places, 0) {
			t.Fatalf("%s with at most %d decimals by %+v: %s, want %s", text, places, f, got, want)
		}
	}
	if short < 10_000 {
		t.Errorf("only %d numbers were copied unchanged", short)
	}
}
