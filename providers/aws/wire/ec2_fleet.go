package wire

import (
	"cmp"
	"net/http"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

type createFleetRequest struct {
	ClientToken                 string
	Type                        string
	LaunchTemplateConfigs       []fleetConfig
	TargetCapacitySpecification struct {
		TotalTargetCapacity       int
		DefaultTargetCapacityType string
	}
	SpotOptions      struct{ AllocationStrategy string }
	OnDemandOptions  struct{ AllocationStrategy string }
	TagSpecification []tagSpecification
}

type fleetConfig struct {
	LaunchTemplateSpecification templateReference
	Overrides                   []fleetOverride
}

type templateReference struct {
	LaunchTemplateID            string `query:"LaunchTemplateId"`
	LaunchTemplateName, Version string
}

type fleetOverride struct {
	InstanceType     string
	SubnetID         string `query:"SubnetId"`
	AvailabilityZone string
	ImageID          string `query:"ImageId"`
	Priority         float64
}

type createFleetAnswer struct {
	ID        string          `xml:"fleetId"`
	Errors    []fleetError    `xml:"errorSet>item"`
	Instances []fleetInstance `xml:"fleetInstanceSet>item"`
}

type fleetError struct {
	Code      string     `xml:"errorCode"`
	Message   string     `xml:"errorMessage"`
	Lifecycle string     `xml:"lifecycle"`
	From      fleetPlace `xml:"launchTemplateAndOverrides"`
}

type fleetInstance struct {
	IDs       []string   `xml:"instanceIds>item"`
	Type      string     `xml:"instanceType"`
	Lifecycle string     `xml:"lifecycle"`
	From      fleetPlace `xml:"launchTemplateAndOverrides"`
}

// fleetPlace holds the part of the request that led to an instance or an error.
type fleetPlace struct {
	TemplateID   string  `xml:"launchTemplateSpecification>launchTemplateId"`
	TemplateName string  `xml:"launchTemplateSpecification>launchTemplateName"`
	Version      string  `xml:"launchTemplateSpecification>version"`
	Type         string  `xml:"overrides>instanceType"`
	Zone         string  `xml:"overrides>availabilityZone"`
	SubnetID     string  `xml:"overrides>subnetId"`
	ImageID      string  `xml:"overrides>imageId"`
	Priority     float64 `xml:"overrides>priority"`
}

func place(t cloud.Template, o cloud.Override) fleetPlace {
	return fleetPlace{t.ID, t.Name, "1", o.Type, o.Zone, o.SubnetID, o.ImageID, o.Priority}
}

func createFleet(c *cloud.Cloud, r createFleetRequest) (a createFleetAnswer, err error) {
	if r.Type != "instant" {
		return a, &cloud.Error{
			Code: "InvalidParameterValue", Message: "Only fleets of type instant are simulated",
			Status: http.StatusBadRequest,
		}
	}
	want := cloud.FleetRequest{
		Token: r.ClientToken, Capacity: r.TargetCapacitySpecification.DefaultTargetCapacityType,
		Count:    r.TargetCapacitySpecification.TotalTargetCapacity,
		Strategy: cmp.Or(r.SpotOptions.AllocationStrategy, r.OnDemandOptions.AllocationStrategy),
		Tags:     tagsFor("instance", r.TagSpecification),
	}
	for _, config := range r.LaunchTemplateConfigs {
		choice := cloud.Choice{
			TemplateID:   config.LaunchTemplateSpecification.LaunchTemplateID,
			TemplateName: config.LaunchTemplateSpecification.LaunchTemplateName,
		}
		for _, o := range config.Overrides {
			choice.Overrides = append(choice.Overrides, cloud.Override{
				Type: o.InstanceType, SubnetID: o.SubnetID, Zone: o.AvailabilityZone, ImageID: o.ImageID, Priority: o.Priority,
			})
		}
		want.Choices = append(want.Choices, choice)
	}
	f, err := c.CreateFleet(want)
	if err != nil {
		return a, err
	}
	a.ID = f.ID
	for _, e := range f.Errors {
		a.Errors = append(a.Errors, fleetError{e.Error.Code, e.Error.Message, e.Capacity, place(e.Template, e.Override)})
	}
	for _, l := range f.Launched {
		launched := fleetInstance{Type: l.Override.Type, Lifecycle: l.Capacity, From: place(l.Template, l.Override)}
		for _, i := range l.Instances {
			launched.IDs = append(launched.IDs, i.ID)
		}
		a.Instances = append(a.Instances, launched)
	}
	return a, nil
}

type runInstancesRequest struct{}

// runInstances refuses all calls. Karpenter only sends dry runs, which unlessDry answers.
func runInstances(*cloud.Cloud, runInstancesRequest) (nothing, error) {
	return nothing{}, &cloud.Error{
		Code: "UnsupportedOperation", Message: "Instances are launched by CreateFleet here",
		Status: http.StatusBadRequest,
	}
}
