package convert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// charsetGuess is the charset that a text probably has.
type charsetGuess struct {
	charset charset
	rivals  []charset // others that make sense too, if the text does not decide
	doubt   string    // what a word of the text is in each of them
	words   map[string]int
}

// likelyCharsets are the charsets that are suggested, the most frequent first. Latin-1 has no character that
// windows-1252 does not have.
var likelyCharsets = []charset{windows1252, latin9, windows1250, latin2, macintosh, cp850, cp437}

// languages are the letters beside a to z that are frequent in a language, for western and eastern charsets.
var languages = map[bool][]string{
	false: {"äöüß", "àâæçéèêëîïôœùûüÿ", "áéíóúñü", "àèéìòù", "ãõáâàçéêíóôúü", "åäöæøé", "éëïöüèê"},
	true:  {"áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "čćđšž", "ăâîşţ"},
}

// highWords counts the words of a text that are not ASCII, as they are written.
func highWords(words map[string]int, text []byte) {
	letter := func(b byte) bool { return b >= 0x80 || b|0x20 >= 'a' && b|0x20 <= 'z' }
	for at := 0; at < len(text); at++ {
		if text[at] < 0x80 {
			continue
		}
		from, to := at, at
		for from > 0 && at-from < 30 && letter(text[from-1]) {
			from--
		}
		for to < len(text) && to-at < 30 && letter(text[to]) {
			to++
		}
		if word := string(text[from:to]); len(words) < maxHighWords || words[word] > 0 {
			words[word]++
		}
		at = to
	}
}

// maxHighWords limits the words that are kept.
const maxHighWords = 5_000

// guessCharset finds the charset in which words make the most sense. Others are left open if they make
// nearly as much sense, and read a word in another way.
func guessCharset(words map[string]int) charsetGuess {
	list := slices.Clone(likelyCharsets)
	scores := map[charset]float64{}
	for _, c := range list {
		scores[c] = c.sense(words)
	}
	slices.SortStableFunc(list, func(a, b charset) int {
		switch {
		case scores[a] > scores[b]+1e-9:
			return -1
		case scores[b] > scores[a]+1e-9:
			return 1
		}
		return 0
	})
	guess := charsetGuess{charset: list[0], words: words}
	var read []charset
	for _, c := range list[1:] {
		differ := guess.differences(c)
		known := slices.ContainsFunc(read, func(other charset) bool { return (&charsetGuess{charset: other, words: words}).differences(c) == 0 })
		lead := scores[list[0]] - scores[c]
		// Much text in an eastern language has letters that make no sense in windows-1252.
		frequent := lead < 1e-9 && list[0] == windows1252 && c.eastern() && differ >= 20
		if differ > 0 && !known && !frequent && (lead < 1 || lead < 0.2*float64(differ)) {
			guess.rivals, read = append(guess.rivals, c), append(read, c)
		}
	}
	guess.rivals = guess.rivals[:min(len(guess.rivals), 2)]
	guess.describe()
	return guess
}

// eastern reports whether a charset is of eastern Europe.
func (c charset) eastern() bool { return c == windows1250 || c == latin2 }

// differences counts the words that another charset reads in another way.
func (g *charsetGuess) differences(c charset) (count int) {
	for word, n := range g.words {
		if g.charset.plain(word) != c.plain(word) {
			count += n
		}
	}
	return count
}

// plain reads a text as well as possible.
func (c charset) plain(text string) string {
	table := singleBytes[c]
	if table == nil {
		return text
	}
	var out strings.Builder
	for i := range len(text) {
		out.WriteRune(table.DecodeByte(text[i]))
	}
	return out.String()
}

// describe shows a word that the charsets read in different ways.
func (g *charsetGuess) describe() {
	if len(g.rivals) == 0 {
		return
	}
	best := ""
	for word := range g.words {
		if g.charset.plain(word) != g.rivals[0].plain(word) && (best == "" || len(word) > len(best) || len(word) == len(best) && word < best) {
			best = word
		}
	}
	for _, c := range append([]charset{g.charset}, g.rivals...) {
		shown := strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return utf8.RuneError
			}
			return r
		}, c.plain(best))
		g.doubt += fmt.Sprintf(", %s in %s", shown, c)
	}
	g.doubt = "one word is " + strings.TrimPrefix(g.doubt, ", ")
}

// sense says how much sense words make in a charset.
func (c charset) sense(words map[string]int) (best float64) {
	best = -1e18
	for _, language := range languages[c.eastern()] {
		sum := 0.0
		for word, count := range words {
			sum += float64(count) * c.wordSense([]rune(c.plain(word)), language)
		}
		best = max(best, sum)
	}
	return best
}

// wordSense says how much sense the letters of a word make that are not ASCII.
func (c charset) wordSense(word []rune, language string) (sum float64) {
	family := strings.Join(languages[c.eastern()], "")
	capitals := 0
	for _, r := range word {
		if r < 0x80 && unicode.IsUpper(r) {
			capitals++
		} else if r < 0x80 {
			capitals = -100
		}
	}
	for i, r := range word {
		after, before := i > 0 && unicode.IsLetter(word[i-1]), i+1 < len(word) && unicode.IsLetter(word[i+1])
		lower := unicode.ToLower(r)
		switch {
		case r < 0x80:
		case r == 0xa0: // a blank
			sum += 0.5
		case r == utf8.RuneError || r < 0xa0: // no character
			sum -= 2
		case unicode.IsLetter(r) && !strings.ContainsRune("ªº", r):
			switch {
			case unicode.IsUpper(r) && after && unicode.IsLower(word[i-1]), unicode.IsLower(r) && r != 'ß' && capitals > 1:
				sum--
			case len(word) == 1:
				sum += 0.3
			case strings.ContainsRune(language, lower):
				sum++
			case strings.ContainsRune(family, lower) || strings.ContainsRune("šž", lower):
				sum += 0.5
			default:
				sum += 0.3
			}
		case after && before && strings.ContainsRune("’‘´", r), after && !before && strings.ContainsRune("ªº°²³®™’", r):
			sum += 0.6
		case after || before:
			sum--
		case strings.ContainsRune("€£§°²³½¼«»–—’‘“”„…·•®™ªº¿¡²", r):
			sum += 0.9
		case unicode.In(r, unicode.So): // lines and blocks
			sum -= 0.5
		}
	}
	return sum
}

// charsetBytes is how much of each file is read to find its charset.
const charsetBytes = 4 << 20

// sharedWords collects the words of the tables that are not UTF-8. Tables of one system mostly have one
// charset, but a single table may not show which.
func sharedWords(folder string, names []string) (map[string]int, error) {
	words := map[string]int{}
	for _, name := range names {
		if !isTable(name) || isWorkbook(name) {
			continue
		}
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(file, charsetBytes))
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		if unicodeCharset(text) == "" {
			highWords(words, text)
		}
	}
	return words, nil
}

// inspectCharset guesses the charset of a file from its beginning, and from the words of all tables.
func inspectCharset(begin []byte, shared map[string]int) charsetGuess {
	if c := unicodeCharset(begin); c != "" {
		return charsetGuess{charset: c}
	}
	words := map[string]int{}
	highWords(words, begin)
	own := guessCharset(words)
	if len(shared) == 0 {
		return own
	}
	all := guessCharset(shared)
	if all.words = words; len(own.rivals) == 0 && own.differences(all.charset) > 0 {
		return own
	}
	return all
}

// readsAs reports whether a charset reads a table as its own does, or may be the right one.
func (s *inspection) readsAs(c charset) bool {
	if c == s.charset || s.ascii && c != utf16WithBO {
		return true
	}
	if c.multibyte() || s.charset.multibyte() {
		return false
	}
	return slices.Contains(s.guess.rivals, c) || s.guess.differences(c) == 0
}
