package xlsx

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// readStyles reads which styles show a number as a date.
func (w *Workbook) readStyles() error {
	own := map[string]string{}
	inCells := false
	_, err := w.each("xl/styles.xml", func(_ *partReader, element xml.StartElement) error {
		switch element.Name.Local {
		case "numFmt":
			own[attr(element, "numFmtId")] = attr(element, "formatCode")
		case "cellXfs":
			inCells = true
		case "cellStyles", "dxfs":
			inCells = false
		case "xf":
			if inCells {
				w.styles = append(w.styles, kindOf(attr(element, "numFmtId"), own))
			}
		}
		return nil
	})
	return err
}

// kindOf determines whether a number format shows dates.
func kindOf(id string, own map[string]string) styleKind {
	if code, is := own[id]; is {
		return kindOfCode(code)
	}
	switch number, _ := strconv.Atoi(id); {
	case number >= 14 && number <= 17, number >= 27 && number <= 31, number >= 50 && number <= 54, number == 36, number == 57, number == 58:
		return dayStyle
	case number == 46:
		return durationStyle
	case number >= 18 && number <= 21, number >= 32 && number <= 35, number >= 45 && number <= 47, number == 55, number == 56:
		return clockStyle
	case number == 22:
		return dayAndClockStyle
	}
	return numberStyle
}

// kindOfCode reads a number format such as dd/mm/yyyy. Texts in quotes and brackets, and characters
// after a backslash, are shown as they are.
func kindOfCode(code string) styleKind {
	day, clock, duration := false, false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\\', '_', '*':
			i++
		case '"', '[':
			closing := map[byte]string{'"': `"`, '[': "]"}[c]
			end := strings.Index(code[i+1:], closing)
			if end < 0 {
				return numberStyle
			}
			// [h] counts hours.
			if c == '[' && end > 0 && strings.Trim(strings.ToLower(code[i+1:i+1+end]), "hms") == "" {
				clock, duration = true, true
			}
			i += end + 1
		case 'y', 'Y', 'd', 'D':
			day = true
		case 'h', 'H', 's', 'S':
			clock = true
		case '0', '#', '?':
			if !day && !clock {
				return numberStyle
			}
		case ';': // the other sections are for negative numbers, zero and text
			i = len(code)
		case 'G', 'g':
			if strings.HasPrefix(strings.ToLower(code[i:]), "general") {
				return numberStyle
			}
		case 'm', 'M':
			// A month alone, or minutes beside hours.
			if !clock {
				day = day || !strings.ContainsAny(code, "hHsS")
			}
		}
	}
	switch {
	case duration && !day:
		return durationStyle
	case day && clock:
		return dayAndClockStyle
	case day:
		return dayStyle
	case clock:
		return clockStyle
	}
	return numberStyle
}
