package wire

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// ec2Actions returns the actions of EC2 that Karpenter calls.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/.
func ec2Actions() map[string]serves {
	actions := map[string]serves{
		"CreateFleet":                   query(createFleet),
		"CreateLaunchTemplate":          query(createLaunchTemplate),
		"CreateTags":                    query(createTags),
		"DeleteLaunchTemplate":          query(deleteLaunchTemplate),
		"DescribeCapacityReservations":  query(describeCapacityReservations),
		"DescribeImages":                query(describeImages),
		"DescribeInstanceStatus":        query(describeInstanceStatus),
		"DescribeInstanceTypeOfferings": query(describeInstanceTypeOfferings),
		"DescribeInstanceTypes":         query(describeInstanceTypes),
		"DescribeInstances":             query(describeInstances),
		"DescribeLaunchTemplates":       query(describeLaunchTemplates),
		"DescribePlacementGroups":       query(describePlacementGroups),
		"DescribeSecurityGroups":        query(describeSecurityGroups),
		"DescribeSpotPriceHistory":      query(describeSpotPriceHistory),
		"DescribeSubnets":               query(describeSubnets),
		"RunInstances":                  query(runInstances),
		"TerminateInstances":            query(terminateInstances),
	}
	for name, act := range actions {
		actions[name] = unlessDry(act)
	}
	return actions
}

// unlessDry answers dry runs, and passes other requests to the action.
func unlessDry(act serves) serves {
	return func(ctx context.Context, s *Server, r *request) (any, []string, error) {
		if r.form.Get("DryRun") == "true" {
			return nil, nil, &cloud.Error{
				Code:    "DryRunOperation",
				Message: "Request would have succeeded, but DryRun flag is set.", Status: http.StatusPreconditionFailed,
			}
		}
		delete(r.form, "DryRun")
		return act(ctx, s, r)
	}
}

// filter is a filter in EC2's format.
type filter struct {
	Name  string
	Value []string
}

func filters(all []filter) []cloud.Filter {
	var some []cloud.Filter
	for _, f := range all {
		some = append(some, cloud.Filter{Name: f.Name, Values: f.Value})
	}
	return some
}

// tag is a tag in the format of EC2 and IAM, for requests and answers.
type tag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// tagSpecification holds the tags for the resources of a type that a request creates.
type tagSpecification struct {
	ResourceType string
	Tag          []tag
}

// tagsFor returns the tags for resources of a type.
func tagsFor(kind string, specifications []tagSpecification) map[string]string {
	tags := map[string]string{}
	for _, s := range specifications {
		if s.ResourceType == kind {
			for _, t := range s.Tag {
				tags[t.Key] = t.Value
			}
		}
	}
	return tags
}

func tagSet(tags map[string]string) []tag {
	set := make([]tag, 0, len(tags))
	for key, value := range tags {
		set = append(set, tag{key, value})
	}
	slices.SortFunc(set, func(a, b tag) int { return strings.Compare(a.Key, b.Key) })
	return set
}

// stamp formats a time as EC2 does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// done is the answer of actions without a result.
type done struct {
	Return bool `xml:"return"`
}

type createTagsRequest struct {
	ResourceID []string `query:"ResourceId"`
	Tag        []tag
}

func createTags(c *cloud.Cloud, r createTagsRequest) (done, error) {
	return done{true}, c.Tag(r.ResourceID, tagsFor("", []tagSpecification{{Tag: r.Tag}}))
}

// nothing is an empty answer.
type nothing struct{}

// reservationsRequest is a request for resources that the region never has.
type reservationsRequest struct {
	paging
	Filter                []filter
	CapacityReservationID []string `query:"CapacityReservationId"`
	GroupName, GroupID    []string
}

func describeCapacityReservations(_ *cloud.Cloud, r reservationsRequest) (nothing, error) {
	if len(r.CapacityReservationID) > 0 {
		return nothing{}, &cloud.Error{
			Code:    "InvalidCapacityReservationId.NotFound",
			Message: "The capacity reservation does not exist", Status: http.StatusBadRequest,
		}
	}
	return nothing{}, nil
}

func describePlacementGroups(*cloud.Cloud, reservationsRequest) (nothing, error) {
	return nothing{}, nil
}
