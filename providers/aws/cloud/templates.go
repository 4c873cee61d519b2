package cloud

import (
	"maps"
	"slices"
	"time"
)

// Template is a launch template, in its only version.
type Template struct {
	ID, Name string
	Created  time.Time
	Tags     map[string]string // never changed, but replaced
	Data     TemplateData

	token string // of the request that made it
}

// TemplateData is what instances get from a launch template.
type TemplateData struct {
	ImageID  string
	UserData string   // as it is sent: base64
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

// noSuchTemplate is what EC2 says of a name; its code ends in Exception where others don't.
func noSuchTemplate(name string) *Error {
	return refuse("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist: %s", name)
}

// CreateTemplate makes a launch template. A request that was answered is not carried out again:
// one with the same token gets what the first one made.
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

// Templates that match. Names that don't exist are an error.
func (c *Cloud) Templates(names []string, filters []Filter) ([]Template, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Template
	for _, name := range slices.Sorted(maps.Keys(c.templates)) {
		all = append(all, c.templates[name])
	}
	some, err := chosen(all, names, func(t *Template) string { return t.Name }, func(name string) error { return noSuchTemplate(name) })
	if err != nil {
		return nil, err
	}
	return copies(filtered(some, filters))
}

// template is the one of that ID or name.
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
	return nil, refuse("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
}

// DeleteTemplate removes a launch template. Instances don't need it any more.
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
