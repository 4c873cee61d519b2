package wire

import "github.com/plumbline-e2e/plumbline/providers/aws/cloud"

type describeSubnetsRequest struct {
	paging
	Filter   []filter
	SubnetID []string `query:"SubnetId"`
}

type describeSubnetsAnswer struct {
	Subnets   []subnet `xml:"subnetSet>item"`
	NextToken string   `xml:"nextToken,omitempty"`
}

type subnet struct {
	SubnetID  string `xml:"subnetId"`
	State     string `xml:"state"`
	VpcID     string `xml:"vpcId"`
	Free      int    `xml:"availableIpAddressCount"`
	Zone      string `xml:"availabilityZone"`
	ZoneID    string `xml:"availabilityZoneId"`
	Tags      []tag  `xml:"tagSet>item"`
	PublicIPs bool   `xml:"mapPublicIpOnLaunch"`
}

func describeSubnets(c *cloud.Cloud, r describeSubnetsRequest) (a describeSubnetsAnswer, err error) {
	all, err := c.Subnets(r.SubnetID, filters(r.Filter))
	a.Subnets, a.NextToken, err = describe(all, err, r.paging, 1000, func(s cloud.Subnet) subnet {
		return subnet{
			SubnetID: s.ID, State: "available", VpcID: c.VPC(), Free: s.Free, Zone: s.Zone.Name, ZoneID: s.Zone.ID,
			Tags: tagSet(s.Tags),
		}
	})
	return a, err
}

type describeSecurityGroupsRequest struct {
	paging
	Filter  []filter
	GroupID []string `query:"GroupId"`
}

type describeSecurityGroupsAnswer struct {
	Groups    []securityGroup `xml:"securityGroupInfo>item"`
	NextToken string          `xml:"nextToken,omitempty"`
}

type securityGroup struct {
	ID    string `xml:"groupId"`
	Name  string `xml:"groupName"`
	VpcID string `xml:"vpcId"`
	Tags  []tag  `xml:"tagSet>item"`
}

func describeSecurityGroups(c *cloud.Cloud, r describeSecurityGroupsRequest) (a describeSecurityGroupsAnswer,
	err error,
) {
	all, err := c.Groups(r.GroupID, filters(r.Filter))
	a.Groups, a.NextToken, err = describe(all, err, r.paging, 1000, func(g cloud.Group) securityGroup {
		return securityGroup{ID: g.ID, Name: g.Name, VpcID: c.VPC(), Tags: tagSet(g.Tags)}
	})
	return a, err
}

type describeImagesRequest struct {
	paging
	Filter            []filter
	ImageID           []string `query:"ImageId"`
	Owner             []string
	IncludeDeprecated bool
}

type describeImagesAnswer struct {
	Images    []image `xml:"imagesSet>item"`
	NextToken string  `xml:"nextToken,omitempty"`
}

type image struct {
	ID             string `xml:"imageId"`
	Name           string `xml:"name"`
	State          string `xml:"imageState"`
	Architecture   string `xml:"architecture"`
	CreationDate   string `xml:"creationDate"`
	Virtualization string `xml:"virtualizationType"`
	OwnerAlias     string `xml:"imageOwnerAlias"`
}

func describeImages(c *cloud.Cloud, r describeImagesRequest) (a describeImagesAnswer, err error) {
	all, err := c.Images(r.ImageID, filters(r.Filter))
	a.Images, a.NextToken, err = describe(all, err, r.paging, 1000, func(i cloud.Image) image {
		return image{
			ID: i.ID, Name: i.Name, State: "available", Architecture: i.Arch, CreationDate: stamp(i.Created),
			Virtualization: "hvm", OwnerAlias: "amazon",
		}
	})
	return a, err
}
