package wire

import (
	"cmp"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

type createLaunchTemplateRequest struct {
	ClientToken        string
	LaunchTemplateName string
	LaunchTemplateData templateData
	TagSpecification   []tagSpecification
}

type templateData struct {
	ImageID            string `query:"ImageId"`
	UserData           string
	SecurityGroupID    []string           `query:"SecurityGroupId"`
	NetworkInterface   []networkInterface // these have the security groups, if there are any
	BlockDeviceMapping []blockDevice
	IamInstanceProfile struct{ Name string }
}

type networkInterface struct {
	SecurityGroupID []string `query:"SecurityGroupId"`
}

type blockDevice struct {
	DeviceName string
	Ebs        struct{ VolumeSize int }
}

type launchTemplate struct {
	ID      string `xml:"launchTemplateId"`
	Name    string `xml:"launchTemplateName"`
	Created string `xml:"createTime"`
	Latest  int    `xml:"latestVersionNumber"`
	Default int    `xml:"defaultVersionNumber"`
	Tags    []tag  `xml:"tagSet>item"`
}

func describeTemplate(t cloud.Template) launchTemplate {
	return launchTemplate{ID: t.ID, Name: t.Name, Created: stamp(t.Created), Latest: 1, Default: 1, Tags: tagSet(t.Tags)}
}

type launchTemplateAnswer struct {
	Template launchTemplate `xml:"launchTemplate"`
}

func createLaunchTemplate(c *cloud.Cloud, r createLaunchTemplateRequest) (a launchTemplateAnswer, err error) {
	d := r.LaunchTemplateData
	data := cloud.TemplateData{
		ImageID: d.ImageID, UserData: d.UserData, Groups: d.SecurityGroupID,
		Profile: d.IamInstanceProfile.Name,
	}
	for _, i := range d.NetworkInterface {
		data.Groups = append(data.Groups, i.SecurityGroupID...)
	}
	for _, b := range d.BlockDeviceMapping {
		data.DiskGiB = cmp.Or(data.DiskGiB, b.Ebs.VolumeSize) // the first is the root volume
	}
	t, err := c.CreateTemplate(r.ClientToken, r.LaunchTemplateName, data, tagsFor("launch-template", r.TagSpecification))
	return launchTemplateAnswer{describeTemplate(t)}, err
}

type describeLaunchTemplatesRequest struct {
	paging
	Filter             []filter
	LaunchTemplateName []string
}

type describeLaunchTemplatesAnswer struct {
	Templates []launchTemplate `xml:"launchTemplates>item"`
	NextToken string           `xml:"nextToken,omitempty"`
}

func describeLaunchTemplates(c *cloud.Cloud, r describeLaunchTemplatesRequest) (a describeLaunchTemplatesAnswer,
	err error,
) {
	all, err := c.Templates(r.LaunchTemplateName, filters(r.Filter))
	a.Templates, a.NextToken, err = describe(all, err, r.paging, 200, describeTemplate)
	return a, err
}

type deleteLaunchTemplateRequest struct {
	LaunchTemplateID   string `query:"LaunchTemplateId"`
	LaunchTemplateName string
}

func deleteLaunchTemplate(c *cloud.Cloud, r deleteLaunchTemplateRequest) (a launchTemplateAnswer, err error) {
	t, err := c.DeleteTemplate(r.LaunchTemplateID, r.LaunchTemplateName)
	return launchTemplateAnswer{describeTemplate(t)}, err
}
