package sdktest

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	. "github.com/onsi/gomega"
)

func TestInstanceProfile(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c, name, role := iam.NewFromConfig(r.config), aws.String("profile"), aws.String("KarpenterNodeRole")
	_, err := c.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: name})
	g.Expect(err).To(HaveCode("NoSuchEntity"))
	g.Expect(err).To(BeA[*types.NoSuchEntityException]())

	tags := []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("2")}}
	create := &iam.CreateInstanceProfileInput{
		InstanceProfileName: name,
		Path:                aws.String("/karpenter/us-east-1/"), Tags: tags,
	}
	created, err := c.CreateInstanceProfile(t.Context(), create)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*created.InstanceProfile.Arn).
		To(Equal("arn:aws:iam::111122223333:instance-profile/karpenter/us-east-1/profile"))
	g.Expect(*created.InstanceProfile.InstanceProfileId).To(HavePrefix("AIPA"))
	g.Expect(created.InstanceProfile.Roles).To(BeEmpty())
	_, err = c.CreateInstanceProfile(t.Context(), create)
	g.Expect(err).To(HaveCode("EntityAlreadyExists"))
	g.Expect(err).To(BeA[*types.EntityAlreadyExistsException]())

	add := &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: role}
	_, err = c.AddRoleToInstanceProfile(t.Context(), add)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.AddRoleToInstanceProfile(t.Context(), add)
	g.Expect(err).To(HaveCode("LimitExceeded"))
	got, err := c.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: name})
	g.Expect(err).NotTo(HaveOccurred())
	p := got.InstanceProfile
	g.Expect(*p.InstanceProfileName).To(Equal("profile"))
	g.Expect(*p.Path).To(Equal("/karpenter/us-east-1/"))
	g.Expect(*p.CreateDate).To(BeTemporally("~", time.Now(), 5*time.Second))
	g.Expect(p.Tags).To(Equal(tags))
	g.Expect(p.Roles).To(HaveLen(1))
	g.Expect(p.Roles[0].RoleName).To(Equal(role))
	g.Expect(*p.Roles[0].Arn).To(Equal("arn:aws:iam::111122223333:role/KarpenterNodeRole"))

	remove := &iam.DeleteInstanceProfileInput{InstanceProfileName: name}
	_, err = c.DeleteInstanceProfile(t.Context(), remove)
	g.Expect(err).To(HaveCode("DeleteConflict"))
	_, err = c.RemoveRoleFromInstanceProfile(t.Context(),
		&iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: name, RoleName: role})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.DeleteInstanceProfile(t.Context(), remove)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.DeleteInstanceProfile(t.Context(), remove)
	g.Expect(err).To(HaveCode("NoSuchEntity"))
	g.Expect(r.Journal.Report().Ignored).To(BeEmpty())
}

func TestListInstanceProfiles(t *testing.T) {
	r := newRegion(t)
	c := iam.NewFromConfig(r.config)
	for n := range 5 {
		path := fmt.Sprintf("/karpenter/%d/", n%2)
		_, err := c.CreateInstanceProfile(t.Context(),
			&iam.CreateInstanceProfileInput{
				InstanceProfileName: aws.String(fmt.Sprintf("profile-%d", n)),
				Path:                aws.String(path),
			})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
	for name, w := range map[string]struct {
		in    iam.ListInstanceProfilesInput
		want  []string
		pages int
	}{
		"all": {
			iam.ListInstanceProfilesInput{},
			[]string{"profile-0", "profile-1", "profile-2", "profile-3", "profile-4"},
			1,
		},
		"path": {
			iam.ListInstanceProfilesInput{PathPrefix: aws.String("/karpenter/0/")},
			[]string{"profile-0", "profile-2", "profile-4"},
			1,
		},
		"no path": {iam.ListInstanceProfilesInput{PathPrefix: aws.String("/other/")}, []string{}, 1},
		"in pages": {
			iam.ListInstanceProfilesInput{MaxItems: aws.Int32(2), PathPrefix: aws.String("/karpenter/")},
			[]string{"profile-0", "profile-1", "profile-2", "profile-3", "profile-4"},
			3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, pages := collect(t, iam.NewListInstanceProfilesPaginator(c, &w.in),
				func(o *iam.ListInstanceProfilesOutput) []types.InstanceProfile { return o.InstanceProfiles })
			g := NewWithT(t)
			g.Expect(each(found, func(p types.InstanceProfile) string { return *p.InstanceProfileName })).To(Equal(w.want))
			g.Expect(pages).To(Equal(w.pages))
		})
	}
}
