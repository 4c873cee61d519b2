package wire

import "github.com/plumbline-e2e/plumbline/providers/aws/cloud"

// iamActions returns the actions of IAM that Karpenter calls.
// Source: https://docs.aws.amazon.com/IAM/latest/APIReference/.
func iamActions() map[string]serves {
	return map[string]serves{
		"GetInstanceProfile":            query(getInstanceProfile),
		"CreateInstanceProfile":         query(createInstanceProfile),
		"AddRoleToInstanceProfile":      query(addRole),
		"RemoveRoleFromInstanceProfile": query(removeRole),
		"DeleteInstanceProfile":         query(deleteInstanceProfile),
		"ListInstanceProfiles":          query(listInstanceProfiles),
	}
}

type profileRequest struct {
	InstanceProfileName string
	RoleName            string
	Path                string
	Tags                []tag `query:"Tags.member"`
}

type profileAnswer struct {
	Profile profile `xml:"InstanceProfile"`
}

type profile struct {
	Name    string   `xml:"InstanceProfileName"`
	ID      string   `xml:"InstanceProfileId"`
	Arn     string   `xml:"Arn"`
	Path    string   `xml:"Path"`
	Created string   `xml:"CreateDate"`
	Roles   []role   `xml:"Roles>member"`
	Tags    []iamTag `xml:"Tags>member"`
}

type role struct {
	Name    string `xml:"RoleName"`
	ID      string `xml:"RoleId"`
	Arn     string `xml:"Arn"`
	Path    string `xml:"Path"`
	Created string `xml:"CreateDate"`
}

type iamTag struct{ Key, Value string }

func describeProfile(c *cloud.Cloud, p cloud.Profile) profile {
	account := "arn:aws:iam::" + c.Account()
	d := profile{
		Name: p.Name, ID: p.ID, Arn: account + ":instance-profile" + p.Path + p.Name, Path: p.Path,
		Created: stamp(p.Created),
	}
	if p.Role != "" {
		d.Roles = []role{{p.Role, "AROA0123456789ABCDEF0", account + ":role/" + p.Role, "/", stamp(p.Created)}}
	}
	for _, t := range tagSet(p.Tags) {
		d.Tags = append(d.Tags, iamTag(t))
	}
	return d
}

func getInstanceProfile(c *cloud.Cloud, r profileRequest) (profileAnswer, error) {
	p, err := c.Profile(r.InstanceProfileName)
	return profileAnswer{describeProfile(c, p)}, err
}

func createInstanceProfile(c *cloud.Cloud, r profileRequest) (profileAnswer, error) {
	p, err := c.CreateProfile(r.InstanceProfileName, r.Path, tagsFor("", []tagSpecification{{Tag: r.Tags}}))
	return profileAnswer{describeProfile(c, p)}, err
}

func addRole(c *cloud.Cloud, r profileRequest) (nothing, error) {
	return nothing{}, c.SetRole(r.InstanceProfileName, r.RoleName)
}

func removeRole(c *cloud.Cloud, r profileRequest) (nothing, error) {
	return nothing{}, c.SetRole(r.InstanceProfileName, "")
}

func deleteInstanceProfile(c *cloud.Cloud, r profileRequest) (nothing, error) {
	return nothing{}, c.DeleteProfile(r.InstanceProfileName)
}

type listProfilesRequest struct {
	PathPrefix string
	Marker     string
	MaxItems   int
}

type listProfilesAnswer struct {
	Profiles  []profile `xml:"InstanceProfiles>member"`
	Truncated bool      `xml:"IsTruncated"`
	Marker    string    `xml:"Marker,omitempty"`
}

func listInstanceProfiles(c *cloud.Cloud, r listProfilesRequest) (a listProfilesAnswer, err error) {
	a.Profiles, a.Marker, err = describe(c.Profiles(r.PathPrefix), nil, paging{r.MaxItems, r.Marker}, 100,
		func(p cloud.Profile) profile {
			return describeProfile(c, p)
		})
	a.Truncated = a.Marker != ""
	return a, err
}
