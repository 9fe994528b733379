package pack_test

import (
	"errors"
	"strings"
	"testing"

	"landfall/internal/api/pack"
)

func TestBuiltinPacksCanBeRead(t *testing.T) {
	names := pack.BuiltinNames()
	if len(names) != 2 {
		t.Fatalf("there are %d built-in packs", len(names))
	}
	for _, name := range names {
		text, found := pack.Builtin(name)
		if !found {
			t.Fatalf("%s is not built in", name)
		}
		read, err := pack.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if read.Name() != name {
			t.Errorf("%s calls itself %s", name, read.Name())
		}
	}
}

func TestMistakesAreReportedWithTheirLine(t *testing.T) {
	for want, text := range map[string]string{
		`line 3: a pack cannot have "objcts". Did you mean objects?`: "pack: own\nversion: 1\nobjcts: {}\n",
		"line 1: version is missing":                                 "pack: own\n",
		"line 1: the code of a pack has at most 32":                  "pack: Own Pack\nversion: 1\n",
		"line 5: unknown type \"txt 20\"":                            "pack: own\nversion: 1\nadd:\n  Account:\n    colour: txt 20\n",
		"line 5: colour: a choice needs choices":                     "pack: own\nversion: 1\nadd:\n  Account:\n    colour: choice\n",
		"line 5: colour: the choice RED is given twice":              "pack: own\nversion: 1\nadd:\n  Account:\n    colour: {type: choice, choices: [RED, RED]}\n",
		"line 5: colour: digits is only for decimals":                "pack: own\nversion: 1\nadd:\n  Account:\n    colour: {type: date, digits: 3}\n",
		"line 5: the pattern cannot be read":                         "pack: own\nversion: 1\nadd:\n  Account:\n    colour: {type: line 3, pattern: \"(\"}\n",
		"A contains itself through":                                  "pack: own\nversion: 1\nobjects:\n  A: {fields: {b: B}}\n  B: {fields: {a: list of A}}\n",
		"unknown kind \"fromto\". A kind is one of":                  "pack: own\nversion: 1\nrules:\n  - {code: x, kind: fromto, object: A, fields: [a, b]}\n",
		"exactly 2 for from_to":                                      "pack: own\nversion: 1\nrules:\n  - {code: x, kind: from_to, object: A, fields: [a]}\n",
		"line 2: pack is already in line 1":                          "pack: own\npack: own\n",
		"an object may have at most 32 rules":                        "pack: own\nversion: 1\nrules:\n" + strings.Repeat("  - {code: x, kind: one_of, object: A, fields: [a, b]}\n", 33),
		"a rule may name at most 16 fields":                          "pack: own\nversion: 1\nrules:\n  - {code: x, kind: one_of, object: A, fields: [a" + strings.Repeat(", a", 16) + "]}\n",
		"at most 1000 choices are allowed":                           "pack: own\nversion: 1\nadd:\n  Account:\n    colour: {type: choice, choices: [a" + strings.Repeat(", a", 100_000) + "]}\n",
		"a pack may have at most":                                    "pack: own\n" + strings.Repeat("# remark\n", 80_000),
	} {
		_, err := pack.Read([]byte(text))
		var problems pack.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestNamesOfPacks(t *testing.T) {
	if code, version, err := pack.SplitName("gb-energy@12"); err != nil || code != "gb-energy" || version != 12 {
		t.Error(code, version, err)
	}
	for _, wrong := range []string{"gb-energy", "gb-energy@", "gb-energy@0", "GB@1", "@1", "a@1@2"} {
		if _, _, err := pack.SplitName(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}
