package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/measure"
)

// Cell is what is compared: variables of `make e2e`, and settings of the controller.
type Cell struct {
	Name      string            `json:"name"` // A or B
	Text      string            `json:"text"` // as the user wrote it
	Variables map[string]string `json:"variables"`
}

// Settings is the variable of a cell with settings of the controller.
const Settings = "SETTINGS"

// variables are those of `make e2e` that cells may set, and Settings.
func variables() []string {
	return []string{"PROVIDER", "K8S", "KARPENTER", "IMAGE", "GATES", Settings}
}

// ParseCell reads a cell such as "KARPENTER=v1.13.0 GATES=StaticCapacity=true,NodeRepair=true". Spaces or commas
// stand between variables; values may have commas. The empty cell is the adapter's own.
func ParseCell(name, text string) (Cell, error) {
	c := Cell{Name: name, Text: strings.TrimSpace(text), Variables: map[string]string{}}
	starts := regexp.MustCompile(`(?:^|[ ,])(` + strings.Join(variables(), "|") + `)=`)
	found := starts.FindAllStringSubmatchIndex(c.Text, -1)
	if len(found) == 0 && c.Text != "" || len(found) > 0 && found[0][0] > 0 {
		return c, fmt.Errorf("%s=%s: it should begin with a variable and its value, such as KARPENTER=v1.14.0; known "+
			"variables: %s", name, text, strings.Join(variables(), ", "))
	}
	var wrong []error
	for i, f := range found {
		end := len(c.Text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		variable, value := c.Text[f[2]:f[3]], strings.Trim(c.Text[f[1]:end], " ,")
		_, twice := c.Variables[variable]
		switch {
		case twice:
			wrong = append(wrong, fmt.Errorf("%s=%s: %s is set twice", name, text, variable))
		case strings.Contains(value, " "):
			wrong = append(wrong, fmt.Errorf("%s=%s: %q is no value of %s; known variables: %s", name, text, value, variable,
				strings.Join(variables(), ", ")))
		}
		c.Variables[variable] = value
	}
	_, err := ParseSettings(c.Variables[Settings])
	if err != nil {
		wrong = append(wrong, fmt.Errorf("%s=%s: %w", name, text, err))
	}
	return c, errors.Join(wrong...)
}

// Title returns what the cell is, for people.
func (c Cell) Title() string { return cmp.Or(c.Text, "the adapter’s own") }

// ParseSettings reads settings of a controller by its environment variables, such as
// BATCH_IDLE_DURATION=5s;PREFERENCE_POLICY=Ignore.
func ParseSettings(text string) (map[string]string, error) {
	all := map[string]string{}
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' }) {
		name, value, is := strings.Cut(entry, "=")
		if !is || !regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`).MatchString(name) {
			return nil, fmt.Errorf("%s: %q is not a variable of the controller and its value; write them as in "+
				"BATCH_IDLE_DURATION=5s;PREFERENCE_POLICY=Ignore", Settings, entry)
		}
		all[name] = value
	}
	return all, nil
}

// Bound is a limit of a ratio, beyond which a comparison fails.
type Bound struct {
	Figure string
	More   bool // a greater ratio breaks it; else a smaller one
	Limit  float64
}

func (b Bound) String() string {
	sign := "<"
	if b.More {
		sign = ">"
	}
	return b.Figure + sign + strconv.FormatFloat(b.Limit, 'g', -1, 64)
}

func (b Bound) broken(ratio float64) bool {
	if b.More {
		return ratio > b.Limit
	}
	return ratio < b.Limit
}

// ParseBounds reads bounds such as "cost>1.05,disruptions<0.5". The error has all mistakes.
func ParseBounds(text string) ([]Bound, error) {
	var all []Bound
	var wrong []error
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		i := strings.IndexAny(entry, "<>")
		limit := 0.0
		var err error
		if i > 0 {
			limit, err = strconv.ParseFloat(entry[i+1:], 64)
		}
		switch {
		case i <= 0 || err != nil || limit <= 0:
			wrong = append(wrong, fmt.Errorf("FAIL_IF: %q is not a figure and the limit of its ratio, such as cost>1.05", entry))
		case !measure.IsKnown(entry[:i]):
			wrong = append(wrong, fmt.Errorf("FAIL_IF: there is no figure %q; known: %s, disruptions.REASON, requests.METHOD",
				entry[:i], strings.Join(slices.Sorted(slices.Values(measure.Known())), ", ")))
		default:
			all = append(all, Bound{entry[:i], entry[i] == '>', limit})
		}
	}
	return all, errors.Join(wrong...)
}

// Environment returns the environment variables of a cell. What it doesn't set is the user's, and common to both.
func (c Cell) Environment() map[string]string {
	all := maps.Clone(c.Variables)
	delete(all, Settings)
	return all
}
