package cloud

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Profile is an instance profile of IAM. It gives instances a role.
type Profile struct {
	Name, ID string
	Path     string
	Role     string // empty: none
	Created  time.Time
	Tags     map[string]string
}

func noSuchProfile(name string) *Error {
	return &Error{
		Code: "NoSuchEntity", Message: "Instance Profile " + name + " cannot be found.",
		Status: http.StatusNotFound,
	}
}

// Profile returns the instance profile of that name.
func (c *Cloud) Profile(name string) (Profile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, there := c.profiles[name]
	if !there {
		return Profile{}, noSuchProfile(name)
	}
	return *p, nil
}

// Profiles returns the profiles below a path, sorted by name.
func (c *Cloud) Profiles(path string) []Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	var some []Profile
	for _, name := range slices.Sorted(maps.Keys(c.profiles)) {
		if p := c.profiles[name]; strings.HasPrefix(p.Path, path) {
			some = append(some, *p)
		}
	}
	return some
}

// CreateProfile creates an instance profile without a role.
func (c *Cloud) CreateProfile(name, path string, tags map[string]string) (Profile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.profiles[name]; there {
		return Profile{}, &Error{
			Code: "EntityAlreadyExists", Message: "Instance Profile " + name + " already exists.",
			Status: http.StatusConflict,
		}
	}
	if path == "" {
		path = "/"
	}
	id := "AIPA" + strings.ToUpper(c.newID("")[2:])
	c.profiles[name] = &Profile{Name: name, ID: id, Path: path, Created: now(), Tags: tags}
	return *c.profiles[name], nil
}

// SetRole sets a profile's role. An empty role removes it.
func (c *Cloud) SetRole(name, role string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, there := c.profiles[name]
	if !there {
		return noSuchProfile(name)
	}
	if role != "" && p.Role != "" {
		return &Error{
			Code: "LimitExceeded", Message: "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1",
			Status: http.StatusConflict,
		}
	}
	p.Role = role
	return nil
}

// SetRoles sets the role of all profiles, as a change from outside. An empty role removes it.
func (c *Cloud) SetRoles(role string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.profiles {
		p.Role = role
	}
}

// DeleteProfile removes a profile. A profile that still has a role is an error.
func (c *Cloud) DeleteProfile(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, there := c.profiles[name]
	if !there {
		return noSuchProfile(name)
	}
	if p.Role != "" {
		return &Error{
			Code: "DeleteConflict", Message: "Cannot delete entity, must remove roles from instance profile first.",
			Status: http.StatusConflict,
		}
	}
	delete(c.profiles, name)
	return nil
}
