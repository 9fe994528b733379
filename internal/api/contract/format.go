package contract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tag "golang.org/x/text/language"

	"landfall/internal/api/rules"
)

// Codes of formats that have their own. Other formats use the generic codes of
// package rules.
const (
	CodeInvalidEmail       = "invalid_email"
	CodeInvalidPhoneNumber = "invalid_phone_number"
	CodeInvalidPath        = "invalid_path"
)

// Types of formatted strings used by the tables.
var (
	codeText = rules.Formatted(maxCode, &rules.Format{
		Name: "code", Code: rules.CodeInvalidCharacters,
		Detail:  "Use letters, digits and _ . : / - only, and start with a letter or digit.",
		Pattern: `^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$`,
		Check:   func(text string) bool { return asciiToken(text, "_.:/-") }, Integers: true,
	})
	externalNumberText = rules.Formatted(maxExternal, &rules.Format{
		Name: "external account number", Code: rules.CodeInvalidCharacters,
		Detail: detailIdentifier,
		Check:  ValidExternalNumber, Integers: true,
	})
	// identifierText is for identifiers that prevent duplicate transactions and
	// bills: invisible characters must not make two of them differ.
	identifierText = rules.Formatted(maxExternal, &rules.Format{
		Name: "identifier", Code: rules.CodeInvalidCharacters,
		Detail: detailIdentifier,
		Check:  ValidExternalNumber, Integers: true,
	})
	currencyText = rules.Formatted(3, &rules.Format{
		Name: "currency", Code: rules.CodeInvalidChoice,
		Detail:  "Not a valid ISO 4217 currency code.",
		Pattern: `^[A-Z]{3}$`,
		Check:   ValidCurrency,
	})
	countryText = rules.Formatted(2, &rules.Format{
		Name: "country", Code: rules.CodeInvalidChoice,
		Detail:  "Not a valid ISO 3166-1 alpha-2 country code.",
		Pattern: `^[A-Z]{2}$`,
		Check:   ValidCountry,
	})
	languageText = rules.Formatted(maxLanguageTag, &rules.Format{
		Name: "language", Code: rules.CodeInvalidChoice,
		Detail: "Not a valid BCP 47 language tag.",
		Check:  validLanguage,
	})
	emailText = rules.Formatted(maxEmail, &rules.Format{
		Name: "email", Code: CodeInvalidEmail,
		Detail: "Must be a single email address without a display name.",
		Check:  ValidEmail,
	})
	optionalEmailText = rules.OrEmpty(emailText)
	phoneText         = rules.OrEmpty(rules.Formatted(maxPhone, &rules.Format{
		Name: "phone", Code: CodeInvalidPhoneNumber,
		Detail:  detailPhone,
		Pattern: `^\+?[0-9 ()./-]*[0-9][0-9 ()./-]*(([eE][xX][tT]([eE][nN][sS][iI][oO][nN]|\.)?|[xX]) ?[0-9]{1,7})?$`,
		Check:   phoneSyntax,
	}))
	// Empty and overlong paths are invalid_path, too. So the table sets no length,
	// and checker.path refuses the empty path.
	documentPathText = rules.OrEmpty(rules.Formatted(0, &rules.Format{
		Name: "document path", Code: CodeInvalidPath, NonEmpty: true,
		Detail:   detailPath,
		Check:    ValidPath,
		Controls: true,
	}))
)

const detailIdentifier = "Must not contain control, invisible or text direction characters, or leading or trailing white space."

const detailPath = "Must be a path relative to the document root, at most 1024 bytes long, without empty, . or .. segments, backslashes, control characters, a URL scheme or a drive letter."

// ValidSupplierCode reports whether the operator may create a supplier with this
// code. Requests are not checked with it: such a code simply does not exist.
func ValidSupplierCode(text string) bool {
	return len(text) <= maxSupplier && asciiToken(text, "_.-")
}

// asciiToken reports whether text consists of ASCII letters and digits and,
// after the first character, the given marks.
func asciiToken(text, marks string) bool {
	for i := range len(text) {
		c := text[i]
		alphanumeric := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !alphanumeric && (i == 0 || strings.IndexByte(marks, c) < 0) {
			return false
		}
	}
	return text != ""
}

// ValidExternalNumber reports whether text can be an external account number.
// Numbers are compared byte by byte, so invisible characters are not allowed.
func ValidExternalNumber(text string) bool {
	if text == "" || len(text) > maxExternal && utf8.RuneCountInString(text) > maxExternal {
		return false
	}
	plain := true
	for i := range len(text) {
		plain = plain && text[i] > ' ' && text[i] < 0x7f
	}
	if plain {
		return true
	}
	for _, r := range text {
		if r == utf8.RuneError || isInvisible(r) {
			return false
		}
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	return !unicode.IsSpace(first) && !unicode.IsSpace(last)
}

// isInvisible reports whether a character is not visible: control, format
// (zero-width, text direction), private and unassigned characters, and those
// that Unicode says to ignore.
func isInvisible(r rune) bool {
	return !unicode.IsGraphic(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// validLanguage accepts well-formed tags of registered parts. The library also
// accepts underscores, which BCP 47 does not.
func validLanguage(text string) bool {
	switch text {
	case "en", "en-GB", "cy", "cy-GB":
		return true
	}
	if strings.Contains(text, "_") {
		return false
	}
	_, err := tag.Parse(text)
	return err == nil
}
