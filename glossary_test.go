package landfall_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// plainWordsFile lists the ordinary English and Go words that name packages,
// exported types and states.
const plainWordsFile = "testdata/plain_words.txt"

// A word that a reader does not already know is explained in the glossary.
func TestWordsArePlainOrInTheGlossary(t *testing.T) {
	plain := strings.Fields(readRootFile(t, plainWordsFile))
	for _, word := range plain {
		if slices.Contains(metaphors, word) {
			t.Errorf("%s lists %q, which naming_test.go rejects", plainWordsFile, word)
		}
	}
	known := map[string]bool{}
	for _, word := range append(plain, glossaryWords(t)...) {
		known[word] = true
	}
	reported := map[string]bool{}
	for _, file := range parseTree(t) {
		if file.test || file.generated {
			continue
		}
		for _, name := range append(explainedNames(file.ast), path.Base(file.pkg)) {
			for _, word := range wordsOf(name) {
				if !isKnownWord(known, word) && !reported[word] {
					reported[word] = true
					t.Errorf("%s: %q in %s is not a known word: add a line to docs/glossary.md or choose a plain word; "+
						"an ordinary English or Go word goes into %s", file.name, word, name, plainWordsFile)
				}
			}
		}
	}
}

// glossaryWords returns the words of the first two columns of the glossary: the
// terms on the wire and in the code.
func glossaryWords(t *testing.T) []string {
	t.Helper()
	var words []string
	for line := range strings.Lines(readRootFile(t, "docs/glossary.md")) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			words = append(words, wordsOf(cells[1]+" "+cells[2])...)
		}
	}
	if len(words) < 100 {
		t.Fatalf("the glossary has only %d words: has its table changed?", len(words))
	}
	return words
}

// explainedNames returns the exported types of a file and the exported constants
// of its types that are states.
func explainedNames(file *ast.File) []string {
	var names []string
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE && group.Tok != token.CONST {
			continue
		}
		isState := false
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				// A constant without a type and a value repeats those of the one before.
				if kind, typed := spec.Type.(*ast.Ident); typed || len(spec.Values) > 0 {
					isState = typed && (strings.HasSuffix(kind.Name, "State") || strings.HasSuffix(kind.Name, "Status"))
				}
				if isState {
					names = append(names, spec.Names[0].Name)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !token.IsExported(name) })
}

// isKnownWord reports whether a word, its stem, or both halves of a compound such
// as "filestore" are known.
func isKnownWord(known map[string]bool, word string) bool {
	if known[word] {
		return true
	}
	for _, suffix := range []string{"s", "d", "ed", "r", "er", "ing"} {
		if stem, has := strings.CutSuffix(word, suffix); has && len(stem) > 2 && (known[stem] || known[stem+"e"]) {
			return true
		}
	}
	for i := 2; i < len(word)-1; i++ {
		if known[word[:i]] && known[word[i:]] {
			return true
		}
	}
	return false
}

func readRootFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
