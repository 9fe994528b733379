package calendar

import (
	"testing"
	"time"
)

func TestParseDay(t *testing.T) {
	for text, real := range map[string]bool{
		"2024-02-29": true, "2023-02-29": false, "2000-02-29": true, "1900-02-29": false, "0001-01-01": true, "9999-12-31": true,
		"0000-01-01": false, "2024-13-01": false, "2024-00-10": false, "2024-04-31": false, "2024-01-00": false, "2024-1-1": false,
		"2024/01/01": false, "24-01-01": false, "2024-01-01T": false, "2024-01-01x": false, "\n024-01-01": false, "": false, "２０２４": false, "2024-01-0a": false, "-024-01-01": false,
	} {
		day, err := ParseDay(text)
		if (err == nil) != real || real && day.String() != text || real == day.IsZero() {
			t.Errorf("%s: got %s and %v", text, day, err)
		}
	}
}

// TestDaysFollowEachOther checks that every day from First to Last has the
// number after that of the day before, and is parsed and formatted correctly.
func TestDaysFollowEachOther(t *testing.T) {
	day, _ := ParseDay("0001-01-01")
	for want := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); want.Year() < 10000; want = want.AddDate(0, 0, 1) {
		if read, err := ParseDay(want.Format(time.DateOnly)); err != nil || read != day {
			t.Fatalf("%s was read as %s: %v", day, read, err)
		}
		if day != Date(want.Date()) || day != DayFromNumber(day.Number()) || day.String() != want.Format(time.DateOnly) {
			t.Fatalf("%s is not %s", day, want)
		}
		if next := day.AddDays(1); day != Last && (!day.Before(next) || !next.After(day) || day.Compare(next) >= 0 || next.AddDays(-1) != day) {
			t.Fatalf("%s and the day after it are in the wrong order", day)
		}
		day = day.AddDays(1)
	}
	if day != Last {
		t.Errorf("the calendar ends on %s", day)
	}
}

// TestDaysEndAtTheEdgesOfTheCalendar checks that results are clamped. A day
// outside the range could be written but not read again.
func TestDaysEndAtTheEdgesOfTheCalendar(t *testing.T) {
	var none Day
	far := int(^uint(0) >> 1)
	for name, got := range map[string][2]Day{
		"after the last":    {Last.AddDays(1), Last},
		"before the first":  {First.AddDays(-1), First},
		"far ahead":         {First.AddDays(far), Last},
		"far back":          {Last.AddDays(-far - 1), First},
		"no day stays none": {none.AddDays(1), none},
		"a number too high": {DayFromNumber(Last.Number() + 1), Last},
		"a number below":    {DayFromNumber(-1), First},
		"no number":         {DayFromNumber(0), none},
		"the year 10000":    {Date(10000, 1, 1), Last},
		"east of midnight":  {DayOf(time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), time.FixedZone("east", 3600)), Last},
		"west of midnight":  {DayOf(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.FixedZone("west", -3600)), First},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %s, want %s", name, got[0], got[1])
		}
	}
}

func TestUnknownZoneIsUTC(t *testing.T) {
	first, second := Zone("Europe/London"), Zone("Europe/London")
	if Zone("Mars/Olympus") != time.UTC || first.String() != "Europe/London" || first != second {
		t.Error("zones are not what they are called")
	}
}

func TestDayOfUsesTheZone(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	if got := DayOf(time.Date(2024, 2, 28, 23, 0, 0, 0, time.UTC), zone); got.String() != "2024-02-29" {
		t.Error(got)
	}
}

func TestZeroDay(t *testing.T) {
	if zero := (Day{}); !zero.IsZero() || zero.String() != "" || !zero.Before(Date(1, 1, 1)) {
		t.Error("the zero Day is a day")
	}
}

func TestParseInstant(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29T10:11:12Z": "2024-02-29T10:11:12Z", "2024-02-29T23:59:59+02:00": "2024-02-29T21:59:59Z", "2024-02-29T23:59:59-00:30": "2024-03-01T00:29:59Z",
		"2024-02-29T10:11:12.999999999Z": "2024-02-29T10:11:12Z", "1969-12-31T23:59:59.5Z": "1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z": "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z",
		"2024-02-29T10:11:12": "", "2024-02-29 10:11:12Z": "", "2024-02-29": "", "2024-02-29T10:11Z": "", "2024-02-29T24:00:00Z": "", "2024-02-29T23:59:60Z": "",
		"2023-02-29T10:11:12Z": "", "2024-02-29T10:11:12+24:00": "", "2024-02-29T10:11:12+02:60": "", "2024-02-29T10:11:12+0200": "", "2024-02-29t10:11:12z": "", "2024-02-29T10:11:12z": "",
		"2024-02-29T10:11:12,5Z": "", "2024-02-29T1:11:12Z": "", "2024-02-29T10:11:12.Z": "", "0001-01-01T00:00:00+01:00": "", "9999-12-31T23:59:59-01:00": "", "": "", "now": "",
		"2024-02-29T10:11:12Europe/London": "", "2024-02-29T10:11:12ZZ": "", "2024-02-29T10:1x:12Z": "", "2024-02-29T1:11:12.5Z": "", "2024-02-29T10:11:2.55Z": "",
	} {
		got, err := ParseInstant(text)
		if (err == nil) != (want != "") || err == nil && FormatInstant(got) != want {
			t.Errorf("%s: got %s and %v, want %s", text, FormatInstant(got), err, want)
		}
	}
}

func FuzzParseInstant(f *testing.F) {
	f.Add("2024-02-29T10:11:12Z")
	f.Add("2024-02-29T23:59:59.25+02:00")
	f.Fuzz(func(t *testing.T, text string) {
		instant, err := ParseInstant(text)
		if err != nil {
			return
		}
		written := FormatInstant(instant)
		if again, err := ParseInstant(written); err != nil || !again.Equal(instant) || len(written) != 20 {
			t.Fatalf("%q was written %q, which reads as %v (%v)", text, written, again, err)
		}
	})
}

func FuzzParseDay(f *testing.F) {
	f.Add("2024-02-29")
	f.Fuzz(func(t *testing.T, text string) {
		day, err := ParseDay(text)
		_, lenient := time.Parse(time.DateOnly, text)
		if err == nil && (lenient != nil || day.String() != text) {
			t.Fatalf("%q was read as %s", text, day)
		}
	})
}
