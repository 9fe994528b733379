package mail

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

	"landfall/internal/lib/limits"
)

//go:embed builtin
var builtin embed.FS

const (
	// defaultFolder holds the templates for suppliers without a folder of their own.
	// No supplier code starts with an underscore.
	defaultFolder = "_default"
	// English is the fallback language.
	English = "en"
)

// Templates holds all templates of a server.
type Templates struct {
	bySupplier map[string]map[string]*mailTemplate // by supplier, then by lower-case language
	fallback   *mailTemplate                       // built in
}

// BuiltinTemplates returns only the template that is part of the program.
func BuiltinTemplates() *Templates {
	fallback, err := readTemplate(builtin, "builtin/"+English, English)
	if err != nil {
		panic(err) // tests cover the embedded files
	}
	return &Templates{bySupplier: map[string]map[string]*mailTemplate{}, fallback: fallback}
}

// OpenTemplates reads the operator's folder in addition to the built-in template.
// An empty folder name means none. The error lists every invalid file.
func OpenTemplates(folder string) (*Templates, error) {
	templates := BuiltinTemplates()
	if folder == "" {
		return templates, nil
	}
	if errs := templates.readAll(os.DirFS(folder)); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return templates, nil
}

// Folder names are checked, because a template in a misspelled folder would never
// be used and nobody would know why.
var (
	supplierFolder = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)
	languageFolder = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// maxEntries limits the work when the setting names a wrong folder.
const maxEntries = 10_000

// readAll returns all errors, so that the author of the templates can fix them
// together.
func (t *Templates) readAll(folder fs.FS) (errs []error) {
	suppliers, err := subfolders(folder, ".")
	if err != nil {
		return []error{err}
	}
	for _, supplier := range suppliers {
		if supplier != defaultFolder && !supplierFolder.MatchString(supplier) {
			errs = append(errs, fmt.Errorf("%s is neither %s nor a supplier code", supplier, defaultFolder))
			continue
		}
		languages, err := subfolders(folder, supplier)
		if err != nil {
			errs = append(errs, err)
		}
		for _, language := range languages {
			if err := t.read(folder, supplier, language); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if len(suppliers) == 0 {
		errs = append(errs, fmt.Errorf("it contains no folders such as %s/%s", defaultFolder, English))
	}
	return errs
}

// read adds one template. Language tags are case-insensitive, so two folders that
// differ only in case are an error.
func (t *Templates) read(folder fs.FS, supplier, language string) error {
	name := supplier + "/" + language
	if !languageFolder.MatchString(language) {
		return fmt.Errorf("%s is not a language tag such as en or cy-GB", name)
	}
	tag := strings.ToLower(language)
	if t.bySupplier[supplier][tag] != nil {
		return fmt.Errorf("%s exists twice, in upper and lower case", name)
	}
	template, err := readTemplate(folder, name, language)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t.bySupplier[supplier] == nil {
		t.bySupplier[supplier] = map[string]*mailTemplate{}
	}
	t.bySupplier[supplier][tag] = template
	return nil
}

// subfolders lists the folders in a folder, which must contain nothing else except
// hidden entries.
func subfolders(tree fs.FS, folder string) (names []string, err error) {
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("%s has more than %d entries", folder, maxEntries)
	}
	for _, entry := range entries {
		info, err := fs.Stat(tree, path.Join(folder, entry.Name())) // follows links
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("%s is not a folder", path.Join(folder, entry.Name()))
		default:
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// readTemplate reads the files of one template. Any other file is an error.
func readTemplate(tree fs.FS, folder, language string) (*mailTemplate, error) {
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, entry := range entries {
		name := entry.Name()
		// Ignore hidden files and the backup files of editors.
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		if !slices.Contains(templateFiles, name) {
			return nil, fmt.Errorf("%s is not one of %s", name, strings.Join(templateFiles, ", "))
		}
		if files[name], err = readFile(tree, path.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return parseTemplate(language, files)
}

// readFile reads up to one byte more than the limit, so that parseTemplate can tell
// when a file is too long.
func readFile(tree fs.FS, name string) (string, error) {
	file, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, limits.MailTemplate+1))
	return string(content), err
}

// find returns the template for a supplier and a language. The customer's language
// comes first, then English; within a language the supplier's own template comes
// before the default. The built-in template is the last resort.
func (t *Templates) find(supplier, language string) *mailTemplate {
	for _, tags := range [][]string{fallbackTags(language), {English}} {
		for _, folder := range []string{supplier, defaultFolder} {
			for _, tag := range tags {
				if template := t.bySupplier[folder][tag]; template != nil {
					return template
				}
			}
		}
	}
	return t.fallback
}

// fallbackTags lists a language tag and its shorter forms: zh-hant-tw, zh-hant, zh.
func fallbackTags(tag string) (tags []string) {
	for tag = strings.ToLower(tag); tag != ""; {
		tags = append(tags, tag)
		last := strings.LastIndexByte(tag, '-')
		tag = tag[:max(last, 0)]
	}
	return tags
}
