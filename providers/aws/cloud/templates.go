package cloud

import (
	"maps"
	"slices"
	"time"
)

// Template is a launch template. It has only one version.
type Template struct {
	ID, Name string
	Created  time.Time
	Tags     map[string]string // replaced, never modified in place
	Data     TemplateData

	token string // client token of the request that created it
}

// TemplateData holds the settings that instances get from a launch template.
type TemplateData struct {
	ImageID  string
	UserData string   // base64
	Groups   []string // IDs of security groups
	Profile  string   // name of the instance profile
	DiskGiB  int      // of the root volume; 0: the image's own
}

func (t *Template) tags() map[string]string { return t.Tags }

func (t *Template) attribute(name string) ([]string, bool) {
	if name == "launch-template-name" {
		return []string{t.Name}, true
	}
	return nil, false
}

// noSuchTemplate returns EC2's error for a name. For an ID, the code lacks Exception.
func noSuchTemplate(name string) *Error {
	return refuse("InvalidLaunchTemplateName.NotFoundException",
		"At least one of the launch templates specified in the request does not exist: %s", name)
}

// CreateTemplate creates a launch template. A second request with the same name and token
// returns the first template.
func (c *Cloud) CreateTemplate(token, name string, data TemplateData, tags map[string]string) (Template, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, there := c.templates[name]; there {
		if t.token == token && token != "" {
			return *t, nil
		}
		return Template{}, refuse("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	t := &Template{ID: c.newID("lt"), Name: name, Created: now(), Tags: tags, Data: data, token: token}
	c.templates[name] = t
	return *t, nil
}

// Templates returns the launch templates that match. A name that does not exist is an error.
func (c *Cloud) Templates(names []string, filters []Filter) ([]Template, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Template
	for _, name := range slices.Sorted(maps.Keys(c.templates)) {
		all = append(all, c.templates[name])
	}
	some, err := chosen(all, names, func(t *Template) string {
		return t.Name
	}, func(name string) error { return noSuchTemplate(name) })
	if err != nil {
		return nil, err
	}
	return copies(applyFilters(some, filters))
}

// template returns the launch template of a name, or of an ID if the name is empty.
func (c *Cloud) template(id, name string) (*Template, error) {
	if name != "" {
		if t, there := c.templates[name]; there {
			return t, nil
		}
		return nil, noSuchTemplate(name)
	}
	for _, t := range c.templates {
		if t.ID == id {
			return t, nil
		}
	}
	return nil, refuse("InvalidLaunchTemplateId.NotFound",
		"The specified launch template, with template ID %s, does not exist.", id)
}

// DeleteTemplate removes a launch template. Its instances do not change.
func (c *Cloud) DeleteTemplate(id, name string) (Template, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.template(id, name)
	if err != nil {
		return Template{}, err
	}
	delete(c.templates, t.Name)
	return *t, nil
}
