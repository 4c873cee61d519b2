package sdktest

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

func TestLaunchTemplates(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	for n := range 5 {
		out, err := r.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: aws.String(fmt.Sprintf("template/%d", n)),
			LaunchTemplateData: &types.RequestLaunchTemplateData{},
			TagSpecifications: []types.TagSpecification{{
				ResourceType: types.ResourceTypeLaunchTemplate,
				Tags:         ec2Tags("n", fmt.Sprint(n), "cluster", "one"),
			}},
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(*out.LaunchTemplate.LaunchTemplateId).To(HavePrefix("lt-"))
	}
	found, pages := collect(t, ec2.NewDescribeLaunchTemplatesPaginator(r.ec2, &ec2.DescribeLaunchTemplatesInput{
		Filters: []types.Filter{filter("tag:cluster", "one")}, MaxResults: aws.Int32(2),
	}), func(o *ec2.DescribeLaunchTemplatesOutput) []types.LaunchTemplate { return o.LaunchTemplates })
	g.Expect(pages).To(Equal(3))
	g.Expect(each(found, func(l types.LaunchTemplate) string {
		return keyed(l.Tags)["n"]
	})).To(Equal([]string{"0", "1", "2", "3", "4"}))
	g.Expect(*found[3].LaunchTemplateName).To(Equal("template/3"))
	g.Expect(*found[3].CreateTime).To(BeTemporally("~", time.Now(), 5*time.Second))
	g.Expect(*found[3].LatestVersionNumber).To(Equal(int64(1)))

	named := &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"template/3"}}
	out, err := r.ec2.DescribeLaunchTemplates(t.Context(), named)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.LaunchTemplates).To(Equal(found[3:4]))

	_, err = r.ec2.CreateLaunchTemplate(t.Context(),
		&ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: aws.String("template/3"),
			LaunchTemplateData: &types.RequestLaunchTemplateData{},
		})
	g.Expect(err).To(HaveCode("InvalidLaunchTemplateName.AlreadyExistsException"))
	for _, in := range []ec2.DeleteLaunchTemplateInput{
		{LaunchTemplateName: aws.String("template/3")},
		{LaunchTemplateId: found[4].LaunchTemplateId},
	} {
		deleted, err := r.ec2.DeleteLaunchTemplate(t.Context(), &in)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(*deleted.LaunchTemplate.LaunchTemplateName).To(HavePrefix("template/"))
	}
	_, err = r.ec2.DescribeLaunchTemplates(t.Context(), named)
	g.Expect(err).To(HaveCode("InvalidLaunchTemplateName.NotFoundException"))
	_, err = r.ec2.DeleteLaunchTemplate(t.Context(),
		&ec2.DeleteLaunchTemplateInput{LaunchTemplateId: found[4].LaunchTemplateId})
	g.Expect(err).To(HaveCode("InvalidLaunchTemplateId.NotFound"))
}

// TestLaunchTemplateData checks that an instance gets its launch template's data.
func TestLaunchTemplateData(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.SetGroups(2)
	image := r.template(t, "x86_64")
	userData := base64.StdEncoding.EncodeToString([]byte("MIME-Version: 1.0\n+/=&"))
	data := &types.RequestLaunchTemplateData{
		ImageId: aws.String(image), UserData: aws.String(userData),
		SecurityGroupIds: []string{"sg-00000000000000001", "sg-00000000000000002"},
		BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{
			{
				DeviceName: aws.String("/dev/xvda"),
				Ebs:        &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(42), Encrypted: aws.Bool(true)},
			},
			{DeviceName: aws.String("/dev/xvdb"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(7)}},
		},
		MetadataOptions: &types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpTokens: types.LaunchTemplateHttpTokensStateRequired,
		},
		TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{{
			ResourceType: types.ResourceTypeNetworkInterface,
			Tags:         ec2Tags("of", "interfaces"),
		}},
	}
	create := func(name string) *cloud.Instance {
		_, err := r.ec2.CreateLaunchTemplate(t.Context(),
			&ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String(name), LaunchTemplateData: data})
		g.Expect(err).NotTo(HaveOccurred())
		return r.instance(t, r.launch(t, fleet(spot, 1, choice(name, override("c5.large", subnetA))))[0])
	}
	i := create("groups")
	g.Expect(i.ImageID).To(Equal(image))
	g.Expect(i.UserData).To(Equal(userData))
	g.Expect(i.Groups).To(Equal(data.SecurityGroupIds))
	g.Expect(i.DiskGiB).To(Equal(42))
	g.Expect(i.Tags).To(BeEmpty())
	g.Expect(r.Journal.Report().Ignored).
		To(HaveKey("ec2:CreateLaunchTemplate LaunchTemplateData.MetadataOptions.HttpTokens"))

	data.SecurityGroupIds = nil
	data.NetworkInterfaces = []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{
		DeviceIndex: aws.Int32(0),
		Groups:      []string{"sg-00000000000000002"},
	}}
	g.Expect(create("interfaces").Groups).To(Equal([]string{"sg-00000000000000002"}))
}
