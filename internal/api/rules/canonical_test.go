package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"landfall/internal/test/tooltest"
)

// The examples of RFC 8785, sections 3.2.2 and 3.2.3.
func TestCanonicalExamplesOfTheRFC(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{
			"{\n  \"numbers\": [333333333.33333329, 1E30, 4.50,\n 2e-3, 0.000000000000000000000000001],\n" +
				`  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",` + "\n  \"literals\": [null, true, false]\n}",
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
				`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
				`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
	} {
		got, err := Canonical([]byte(c.given))
		if err != nil || string(got) != c.want {
			t.Errorf("got %q, %v\nwant %q", got, err, c.want)
		}
	}
}

// The numbers of RFC 8785, appendix B: the bits of a double and its text.
func TestCanonicalNumbersOfTheRFC(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992", 0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		// Once as another program may write it, with all of its digits.
		for _, format := range []byte("eg") {
			text := strconv.FormatFloat(math.Float64frombits(bits), format, 25, 64)
			if got, err := Canonical([]byte(text)); err != nil || string(got) != want {
				t.Errorf("%x, written %s: got %s, %v; want %s", bits, text, got, err, want)
			}
		}
	}
}

func TestNoCanonicalFormOfBrokenJSON(t *testing.T) {
	for _, broken := range []string{``, `{`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `1 2`, `{"a":NaN}`} {
		if got, err := Canonical([]byte(broken)); err == nil {
			t.Errorf("%q has the form %q", broken, got)
		} else if strings.Contains(err.Error(), "NaN") {
			t.Errorf("the error repeats the data: %v", err)
		}
	}
}

// independent programs compute the hash of the canonical form of every line.
var independent = map[string][]string{
	"node": {"-e", `
const canonical = v => Array.isArray(v) ? '[' + v.map(canonical).join() + ']'
	: v !== null && typeof v === 'object' ? '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + canonical(v[k])).join() + '}'
	: JSON.stringify(v);
for (const line of require('fs').readFileSync(0, 'utf8').split('\n').filter(Boolean))
	console.log(require('crypto').createHash('sha256').update(canonical(JSON.parse(line))).digest('hex'));`},
	"python3": {"-c", `
import hashlib, json, sys
def number(x):
    if x == 0: return '0'
    mantissa, _, exponent = repr(abs(x)).partition('e')
    whole, _, fraction = mantissa.partition('.')
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip('0')
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip('0')
    k = len(digits)
    if k <= point <= 21: text = digits + '0' * (point - k)
    elif 0 < point <= 21: text = digits[:point] + '.' + digits[point:]
    elif -6 < point <= 0: text = '0.' + '0' * -point + digits
    else: text = digits[0] + ('.' + digits[1:] if k > 1 else '') + 'e' + ('+' if point > 0 else '-') + str(abs(point - 1))
    return ('-' if x < 0 else '') + text
def canonical(v):
    if isinstance(v, float): return number(v)
    if isinstance(v, list): return '[' + ','.join(map(canonical, v)) + ']'
    if isinstance(v, dict):
        return '{' + ','.join(canonical(k) + ':' + canonical(v[k]) for k in sorted(v, key=lambda k: k.encode('utf-16-be'))) + '}'
    return json.dumps(v, ensure_ascii=False)
for line in sys.stdin.buffer.read().split(b'\n'):
    if line: print(hashlib.sha256(canonical(json.loads(line, parse_int=float)).encode()).hexdigest())`},
}

// Any client must be able to compute a fingerprint. Two implementations that
// share nothing with this one have to agree on thousands of values.
func TestOtherLanguagesHaveTheSameCanonicalForm(t *testing.T) {
	const count = 3000
	random := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	var want []string
	for range count {
		line := randomJSON(random, 4)
		form, err := Canonical([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sum := sha256.Sum256(form)
		want = append(want, hex.EncodeToString(sum[:]))
		lines.WriteString(line + "\n")
	}
	for program, args := range independent {
		t.Run(program, func(t *testing.T) {
			packages := map[string]string{"node": "nodejs", "python3": "python3"}
			command := exec.Command(tooltest.Debian(t, program, packages[program]), args...)
			command.Stdin = bytes.NewReader(lines.Bytes())
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			got := strings.Fields(string(output))
			if len(got) != count {
				t.Fatalf("%d hashes for %d lines", len(got), count)
			}
			for i, line := range strings.Split(strings.TrimSpace(lines.String()), "\n") {
				if got[i] != want[i] {
					form, _ := Canonical([]byte(line))
					t.Fatalf("%s has another hash for %s\nours is of %s", program, line, form)
				}
			}
		})
	}
}

// randomJSON writes a random value on one line, with random spelling.
func randomJSON(random *rand.Rand, depth int) string {
	kind := random.IntN(8)
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0:
		return []string{"null", "true", "false"}[random.IntN(3)]
	case 1:
		return strconv.FormatInt(random.Int64()>>random.IntN(63), 10)
	case 2:
		for {
			value := math.Float64frombits(random.Uint64())
			if !math.IsNaN(value) && !math.IsInf(value, 0) {
				return strconv.FormatFloat(value, 'e', random.IntN(20), 64)
			}
		}
	case 3:
		return strconv.FormatFloat(float64(random.IntN(1e9))/1e4, 'f', 4+random.IntN(4), 64)
	case 4, 5:
		return randomString(random)
	}
	var parts []string
	seen := map[string]bool{}
	for range random.IntN(6) {
		part := randomJSON(random, depth-1)
		if kind == 6 {
			name := randomString(random)
			var plain string
			if json.Unmarshal([]byte(name), &plain) != nil || seen[plain] {
				continue
			}
			seen[plain] = true
			part = name + " : " + part
		}
		parts = append(parts, part)
	}
	if kind == 6 {
		return "{ " + strings.Join(parts, " ,") + "}"
	}
	return "[" + strings.Join(parts, " , ") + " ]"
}

// randomString mixes letters of all planes and escapes.
func randomString(random *rand.Rand) string {
	var text []byte
	for range random.IntN(8) {
		r := rune([]int{'a' + random.IntN(26), random.IntN(0x80), 0x80 + random.IntN(0x700), 0xe000 + random.IntN(0x1ffd), 0x10000 + random.IntN(0xfffff)}[random.IntN(5)])
		if random.IntN(3) == 0 || r < ' ' || r == '"' || r == '\\' {
			for _, unit := range utf16Units(r) {
				text = append(text, `\u`+hex.EncodeToString([]byte{byte(unit >> 8), byte(unit)})...)
			}
			continue
		}
		text = append(text, string(r)...)
	}
	return `"` + string(text) + `"`
}

func utf16Units(r rune) []uint16 {
	if r < 0x10000 {
		return []uint16{uint16(r)}
	}
	r -= 0x10000
	return []uint16{uint16(0xd800 + r>>10), uint16(0xdc00 + r&0x3ff)}
}

func TestSameJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true}, {`1`, `10e-1`, true}, {`1e2`, `100`, true}, {`0`, `-0.0e7`, true}, {`-1`, `1`, false},
		{`12345678901234567890`, `12345678901234567891`, false}, {`0.1`, `0.10000000000000000001`, false},
		{`1e99999999999999999999`, `1e99999999999999999999`, true}, {`1e99999999999999999999`, `1e99999999999999999998`, false},
		{`1e400`, `2e400`, false}, {`{"a":1,"b":[2]}`, `{ "b" : [2.0], "\u0061":1}`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false},
		{`"A"`, `"\u0041"`, true}, {`[1,2]`, `[2,1]`, false}, {`null`, `false`, false}, {`[]`, `{}`, false}, {`"1"`, `1`, false},
	} {
		if SameJSON(c.a, c.b) != c.same || SameJSON(c.b, c.a) != c.same {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.same)
		}
	}
}

// FuzzCanonical checks that the library writes the same form, that it is stable and
// means the same to another decoder, and that members and spelling do not matter.
func FuzzCanonical(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add([]byte(randomJSON(random, 3)))
	}
	f.Add([]byte(`{"a":1e400}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		form, err := Canonical(value)
		if (err == nil) != jsontext.Value(value).IsValid() {
			t.Fatalf("%q: %v", value, err)
		}
		if err != nil {
			return
		}
		if other, err := libraryCanonical(value); err != nil || !bytes.Equal(form, other) {
			t.Fatalf("%q became %q, but %q with the library, %v", value, form, other, err)
		}
		again, err := Canonical(form)
		if err != nil || !bytes.Equal(form, again) {
			t.Fatalf("%q became %q, then %q, %v", value, form, again, err)
		}
		indented := jsontext.Value(bytes.Clone(value))
		if err := indented.Indent(); err != nil || !SameJSON(string(value), string(indented)) {
			t.Fatalf("%q is not the same when indented: %v", value, err)
		}
	})
}

// TestPlainFormIsTheFormOfTheLibrary compares both writers with the same values.
func TestPlainFormIsTheFormOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	values := []string{
		`{}`, `[]`, ` { } `, `{"b":{"d":1,"c":[{}, {"z":1,"a":2}]},"a":[]}`, `{"a":"x\\","b":"\\\"","c":"\\\\"}`, `"\\"`, "\"\x7f\"", `"</>&` + "\u2028" + `"`,
		`0`, `-0`, `-0.0`, `0.0`, `1.50`, `-1.50`, `10.00`, `0.000010`, `0.0000010`, `0.00000010`, `999999999999999`, `99999999999.999`, `1e2`, `-1E-2`, `1.0e0`,
		strings.Repeat("[", 70) + strings.Repeat("]", 70), `{"ab":1,"a":2,"":3,"abc":4,"B":5}`, string(sample),
	}
	for range 5000 {
		values = append(values, randomJSON(random, 4))
	}
	plainValues := 0
	for _, value := range values {
		want, err := libraryCanonical([]byte(value))
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		form, plain := appendPlainCanonical([]byte("before"), value)
		if !plain {
			if string(form) != "before" {
				t.Errorf("%s: what was not written is %q", value, form)
			}
			continue
		}
		if plainValues++; string(form) != "before"+string(want) {
			t.Errorf("%s became %q\nwant %q", value, form, want)
		}
	}
	if plainValues < len(values)/2 {
		t.Errorf("only %d of %d values are plain", plainValues, len(values))
	}
	// What is broken is never plain: cut a value, and change one of its bytes.
	for _, value := range values {
		if value == "" || len(value) > 3000 {
			continue
		}
		at := random.IntN(len(value))
		for _, broken := range []string{value[:at], value + ",", value[:at] + string(rune(random.IntN(128))) + value[at+1:]} {
			want, err := libraryCanonical([]byte(broken))
			if form, plain := appendPlainCanonical(nil, broken); plain && (err != nil || !bytes.Equal(form, want)) {
				t.Errorf("%q became %q; the library says %q, %v", broken, form, want, err)
			}
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	for name, write := range map[string]func([]byte) ([]byte, error){"plain": Canonical, "library": libraryCanonical} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(sample)))
			for range b.N {
				if _, err := write(sample); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
