package letter

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed builtin
var builtin embed.FS

const (
	// everybody is the folder of suppliers that have none. No supplier's code
	// begins like this.
	everybody = "_default"
	// English is what is left when there is no template for a language.
	English = "en"
)

// Library is all templates there are.
type Library struct {
	shelves map[string]map[string]*template // by supplier, then by language in small letters
	own     *template                       // built in
}

// Builtin is a library of nothing but what the program brings along.
func Builtin() *Library {
	own, err := readTemplate(builtin, "builtin/"+English, English)
	if err != nil {
		panic(err) // a test reads it
	}
	return &Library{shelves: map[string]map[string]*template{}, own: own}
}

// Open reads the operator's folder, or none when it is "". All mistakes are told
// at once, each with its file.
func Open(folder string) (*Library, error) {
	library := Builtin()
	if folder == "" {
		return library, nil
	}
	mistakes := library.read(os.DirFS(folder))
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return library, nil
}

// A folder whose name fits neither would never be found, and nobody would know why
// its templates are not used.
var (
	supplierFolder = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)
	languageFolder = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// mostFolders bounds what is read when a wrong folder was named.
const mostFolders = 10_000

// read gathers all mistakes and not the first: whoever writes templates mends them
// in one go.
func (l *Library) read(folder fs.FS) (mistakes []error) {
	suppliers, err := folders(folder, ".")
	if err != nil {
		return []error{err}
	}
	for _, supplier := range suppliers {
		if supplier != everybody && !supplierFolder.MatchString(supplier) {
			mistakes = append(mistakes, fmt.Errorf("%s is neither %s nor the code of a supplier", supplier, everybody))
			continue
		}
		languages, err := folders(folder, supplier)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		for _, language := range languages {
			if err := l.place(folder, supplier, language); err != nil {
				mistakes = append(mistakes, err)
			}
		}
	}
	if len(suppliers) == 0 {
		mistakes = append(mistakes, fmt.Errorf("there are no folders such as %s/%s in it", everybody, English))
	}
	return mistakes
}

// place puts a template on its shelf. Languages differ in nothing but large letters
// often enough that two such folders are a mistake.
func (l *Library) place(folder fs.FS, supplier, language string) error {
	where := supplier + "/" + language
	if !languageFolder.MatchString(language) {
		return fmt.Errorf("%s is not named after a language, such as en or cy-GB", where)
	}
	small := strings.ToLower(language)
	if l.shelves[supplier][small] != nil {
		return fmt.Errorf("%s is there twice, in large and small letters", where)
	}
	made, err := readTemplate(folder, where, language)
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if l.shelves[supplier] == nil {
		l.shelves[supplier] = map[string]*template{}
	}
	l.shelves[supplier][small] = made
	return nil
}

// folders lists the folders in a folder, which holds nothing else. What begins
// with a dot is some program's own.
func folders(tree fs.FS, in string) (names []string, err error) {
	entries, err := fs.ReadDir(tree, in)
	if err != nil {
		return nil, err
	}
	if len(entries) > mostFolders {
		return nil, fmt.Errorf("%s has more than %d entries", in, mostFolders)
	}
	for _, entry := range entries {
		info, err := fs.Stat(tree, path.Join(in, entry.Name())) // a link to a folder is one
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("%s is not a folder", path.Join(in, entry.Name()))
		default:
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// readTemplate reads the files of one template and wonders about others.
func readTemplate(tree fs.FS, where, language string) (*template, error) {
	entries, err := fs.ReadDir(tree, where)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, entry := range entries {
		name := entry.Name()
		// Editors leave such files beside what they edit.
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		if !slices.Contains(parts, name) {
			return nil, fmt.Errorf("%s is none of %s", name, strings.Join(parts, ", "))
		}
		if files[name], err = readText(tree, path.Join(where, name)); err != nil {
			return nil, err
		}
	}
	return newTemplate(language, files)
}

// readText takes one byte more than is allowed, by which its caller sees that the
// file is too long.
func readText(tree fs.FS, name string) (string, error) {
	file, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, longestTemplate+1))
	return string(content), err
}

// Suppliers lists whom folders are for.
func (l *Library) Suppliers() []string {
	var codes []string
	for code := range l.shelves {
		if code != everybody {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}

// find gives the template for a supplier and a language: in the customer's
// language first, the supplier's own before everybody's, then in English, and
// what is built in when there is none.
func (l *Library) find(supplier, language string) *template {
	for _, wanted := range [][]string{shorter(language), {English}} {
		for _, shelf := range []string{supplier, everybody} {
			for _, tag := range wanted {
				if found := l.shelves[shelf][tag]; found != nil {
					return found
				}
			}
		}
	}
	return l.own
}

// shorter lists a language tag and what is left of it without its last part,
// and so on: zh-hant-tw, zh-hant, zh.
func shorter(tag string) (tags []string) {
	for tag = strings.ToLower(tag); tag != ""; {
		tags = append(tags, tag)
		cut := strings.LastIndexByte(tag, '-')
		tag = tag[:max(cut, 0)]
	}
	return tags
}
