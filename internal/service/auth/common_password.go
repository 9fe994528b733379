package auth

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// commonWords are the words that common passwords are made of, this service's own
// words among them. Together with the patterns below they cover the long passwords of
// published lists, and the same ones with other digits, signs and spellings.
//
//go:embed common_words.txt
var commonWords string

// shortestWord is the length of the shortest word that counts.
const shortestWord = 3

var wordList = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(commonWords) {
		words[word] = true
	}
	return words
})

// keyRuns are rows of keys and letters; parts of them are patterns in both directions.
var keyRuns = []string{
	"abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "qazwsxedcrfvtgbyhnujmikolp", "1q2w3e4r5t6z7u8i9o0p", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0",
	"zaq12wsxcde34rfvbgt56yhnmju78ik", "qweasdzxc", "147258369", "789456123",
}

// isCommon reports whether a password is easy to guess: a repetition, a pattern of keys,
// digits only, or one or two common words or parts of the name with little around them.
func isCommon(password, name string) bool {
	text := strings.ToLower(password)
	if few(text) || repeats(text) || strings.TrimLeft(text, "0123456789 .,:;-_/+#*!") == "" || isRun(text) {
		return true
	}
	extra := map[string]bool{}
	for _, part := range append(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name) {
		if len(part) >= shortestWord {
			extra[strings.ToLower(part)] = true
		}
	}
	// Digits and signs stand for letters; 1 stands for two.
	for _, letters := range []*strings.Replacer{
		strings.NewReplacer(),
		strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i"),
		strings.NewReplacer("0", "o", "1", "l", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i"),
	} {
		if fewWords(text, letters.Replace(text), extra) {
			return true
		}
	}
	return false
}

// few reports whether a text has fewer than five different characters.
func few(text string) bool {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen) < 5
}

// repeats reports whether a text is one part twice or more, perhaps cut off.
func repeats(text string) bool {
	for unit := 1; unit <= len(text)/2; unit++ {
		if text[unit:] == text[:len(text)-unit] {
			return true
		}
	}
	return false
}

// isRun reports whether all but three characters belong to runs of keys.
func isRun(text string) bool {
	free := 0
	for at := 0; at < len(text); {
		length := runAt(text[at:])
		if length < shortestWord {
			free += length
		}
		at += length
	}
	return free <= shortestWord
}

// runAt returns the length of the run of keys at the start of a text, at least 1.
func runAt(text string) int {
	longest := 1
	for _, row := range keyRuns {
		for _, keys := range []string{row, reversed(row)} {
			if at := strings.IndexByte(keys, text[0]); at >= 0 {
				longest = max(longest, sharedStart(keys[at:], text))
			}
		}
	}
	return longest
}

func sharedStart(a, b string) int {
	length := 0
	for length < len(a) && length < len(b) && a[length] == b[length] {
		length++
	}
	return length
}

func reversed(text string) string {
	letters := []byte(text)
	for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
		letters[i], letters[j] = letters[j], letters[i]
	}
	return string(letters)
}

// longestWord bounds the search for a word at one place.
const longestWord = 32

// fewWords reports whether a text consists of at most two different common words and
// two other letters. Its spelling with letters for digits has the same length.
func fewWords(text, spelled string, extra map[string]bool) bool {
	if len(spelled) != len(text) {
		return false
	}
	words, free, covered := map[string]bool{}, 0, 0
	for at := 0; at < len(text); {
		if word := wordAt(spelled[at:], extra); word != "" {
			words[word] = true
			covered += len(word)
			at += len(word)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsLetter(r) {
			free++
		}
		at += size
	}
	return covered*3 >= len(text) && len(words) <= 2 && free <= 2
}

// wordAt returns the longest common word at the start of a text.
func wordAt(text string, extra map[string]bool) string {
	for length := min(len(text), longestWord); length >= shortestWord; length-- {
		if word := text[:length]; wordList()[word] || extra[word] {
			return word
		}
	}
	return ""
}
