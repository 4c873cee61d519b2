package providers

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fieldNames returns the keys that a struct has in YAML, and the indexes of their fields.
func fieldNames(t reflect.Type) (names []string, index map[string]int) {
	index = map[string]int{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			names = append(names, name)
			index[name] = i
		}
	}
	return names, index
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// describe names the kind of a YAML node, with its text if that is short.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case len(n.Value) > 60:
		return "a long text"
	}
	kinds := map[string]string{
		"!!int": "the number", "!!float": "the number", "!!bool": "the boolean",
		"!!str": "the string",
	}
	kind, ok := kinds[n.Tag]
	if !ok {
		kind = "the value"
	}
	return fmt.Sprintf("%s `%s`", kind, n.Value)
}

// kindWanted names, with its article, what a scalar field takes.
func kindWanted(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "an integer"
	default:
		return "a " + k.String()
	}
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// syntaxMistake converts an error of the YAML parser to a mistake. The error's text
// holds the line.
func syntaxMistake(file string, err error) Mistake {
	parts := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	line, _ := strconv.Atoi(parts[1])
	m := Mistake{File: file, Line: line, Message: "not YAML: " + parts[2]}
	if line > 0 {
		m.Column = 1
	}
	return m
}
