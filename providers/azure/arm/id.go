package arm

import (
	"path"
	"strings"
)

// ID is the path of a resource, of a collection of resources or of an action.
type ID struct {
	// Path is the path as it was written. ARM compares paths without regard to case.
	Path string
	// Kind holds the namespace and the types, such as microsoft.compute/virtualmachines. It is in
	// lower case, and ends with /* if the path ends with a name. Other paths are their own kinds.
	Kind string
	// Group is the resource group, in lower case.
	Group string
}

// Parse reads a path such as
// /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v.
func Parse(path string) ID {
	id := ID{Path: strings.TrimSuffix(path, "/"), Kind: path}
	parts := strings.Split(id.Key(), "/")
	for n, part := range parts[:len(parts)-1] {
		switch part {
		case "resourcegroups":
			id.Group = parts[n+1]
		case "providers":
			id.Kind = parts[n+1]
			rest := parts[n+2:]
			for i := 0; i < len(rest); i += 2 { // types and names take turns
				id.Kind += "/" + rest[i]
			}
			if len(rest) > 0 && len(rest)%2 == 0 {
				id.Kind += "/*"
			}
			return id
		}
	}
	return id
}

// Name returns the last part of the path, in lower case.
func (id ID) Name() string { return path.Base(id.Key()) }

// Parent returns the resource that this one belongs to.
func (id ID) Parent() ID { return Parse(path.Dir(path.Dir(id.Path))) }

// Key returns what is equal for equal IDs.
func (id ID) Key() string { return strings.ToLower(id.Path) }
