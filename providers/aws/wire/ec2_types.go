package wire

import (
	"slices"
	"strconv"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

type describeInstanceTypesRequest struct {
	paging
	Filter       []filter
	InstanceType []string
}

type describeInstanceTypesAnswer struct {
	Types     []instanceType `xml:"instanceTypeSet>item"`
	NextToken string         `xml:"nextToken,omitempty"`
}

type instanceType struct {
	Name               string    `xml:"instanceType"`
	CurrentGeneration  bool      `xml:"currentGeneration"`
	BareMetal          bool      `xml:"bareMetal"`
	Hypervisor         string    `xml:"hypervisor,omitempty"`
	Burstable          bool      `xml:"burstablePerformanceSupported"`
	UsageClasses       []string  `xml:"supportedUsageClasses>item"`
	Virtualization     []string  `xml:"supportedVirtualizationTypes>item"`
	Architectures      []string  `xml:"processorInfo>supportedArchitectures>item"`
	Manufacturer       string    `xml:"processorInfo>manufacturer"`
	GHz                float64   `xml:"processorInfo>sustainedClockSpeedInGhz"`
	VCPUs              int       `xml:"vCpuInfo>defaultVCpus"`
	Cores              int       `xml:"vCpuInfo>defaultCores"`
	MiB                int       `xml:"memoryInfo>sizeInMiB"`
	HasDisks           bool      `xml:"instanceStorageSupported"`
	Disks              *disks    `xml:"instanceStorageInfo"`
	EBSOptimized       string    `xml:"ebsInfo>ebsOptimizedSupport"`
	EBSEncryption      string    `xml:"ebsInfo>encryptionSupport"`
	EBSMbps            int       `xml:"ebsInfo>ebsOptimizedInfo>maximumBandwidthInMbps"`
	EBSNVMe            string    `xml:"ebsInfo>nvmeSupport"`
	Interfaces         int       `xml:"networkInfo>maximumNetworkInterfaces"`
	NetworkCards       int       `xml:"networkInfo>maximumNetworkCards"`
	DefaultCard        int       `xml:"networkInfo>defaultNetworkCardIndex"`
	Cards              []card    `xml:"networkInfo>networkCards>item"`
	IPv4s              int       `xml:"networkInfo>ipv4AddressesPerInterface"`
	EncryptedInTransit bool      `xml:"networkInfo>encryptionInTransitSupported"`
	EFA                bool      `xml:"networkInfo>efaSupported"`
	GPUs               *[]device `xml:"gpuInfo>gpus>item"`
	Neurons            *[]neuron `xml:"neuronInfo>neuronDevices>item"`
	PlacementGroups    []string  `xml:"placementGroupInfo>supportedStrategies>item"`
}

type disks struct {
	TotalGB int    `xml:"totalSizeInGB"`
	NVMe    string `xml:"nvmeSupport"`
}

type card struct {
	Index      int `xml:"networkCardIndex"`
	Interfaces int `xml:"maximumNetworkInterfaces"`
}

type device struct {
	Name         string `xml:"name"`
	Manufacturer string `xml:"manufacturer"`
	Count        int    `xml:"count"`
	MiB          int    `xml:"memoryInfo>sizeInMiB"`
}

type neuron struct {
	Name  string `xml:"name"`
	Count int    `xml:"count"`
	Cores int    `xml:"coreInfo>count"`
	MiB   int    `xml:"memoryInfo>sizeInMiB"`
}

// coresOfInferentia is the number of NeuronCores in a chip of the first generation.
const coresOfInferentia = 4

func describeInstanceTypes(c *cloud.Cloud, r describeInstanceTypesRequest) (a describeInstanceTypesAnswer, err error) {
	some, err := c.TypesThat(r.InstanceType, filters(r.Filter))
	a.Types, a.NextToken, err = describe(some, err, r.paging, 100, func(t cloud.Type) instanceType {
		return describeType(&t)
	})
	return a, err
}

func describeType(t *cloud.Type) instanceType {
	d := instanceType{
		Name: t.Name, CurrentGeneration: true, BareMetal: t.Metal(), Hypervisor: t.Hypervisor, Burstable: t.Burstable(),
		UsageClasses: []string{cloud.OnDemand, cloud.Spot}, Virtualization: []string{"hvm"},
		Architectures: []string{t.Arch}, Manufacturer: t.Manufacturer, GHz: t.GHz, VCPUs: t.VCPUs, Cores: t.Cores, MiB: t.MiB,
		EBSOptimized: "default", EBSEncryption: "supported", EBSMbps: t.EBSMbps, EBSNVMe: "required",
		Interfaces: t.Interfaces, NetworkCards: 1, Cards: []card{{0, t.Interfaces}}, IPv4s: t.IPs,
		EncryptedInTransit: t.EncryptsInTransit(), PlacementGroups: []string{"cluster", "partition", "spread"},
	}
	if t.DiskGB > 0 {
		d.HasDisks, d.Disks = true, &disks{t.DiskGB, "required"}
	}
	switch x := t.Devices; {
	case x == nil:
	case x.Manufacturer == "AWS":
		d.Neurons = &[]neuron{{x.Name, x.Count, coresOfInferentia, x.MiB}}
	default:
		d.GPUs = &[]device{{x.Name, x.Manufacturer, x.Count, x.MiB}}
	}
	return d
}

type describeInstanceTypeOfferingsRequest struct {
	paging
	LocationType string
}

type describeInstanceTypeOfferingsAnswer struct {
	Offerings []offering `xml:"instanceTypeOfferingSet>item"`
	NextToken string     `xml:"nextToken,omitempty"`
}

type offering struct {
	Type         string `xml:"instanceType"`
	LocationType string `xml:"locationType"`
	Location     string `xml:"location"`
}

func describeInstanceTypeOfferings(c *cloud.Cloud,
	r describeInstanceTypeOfferingsRequest,
) (a describeInstanceTypeOfferingsAnswer, err error) {
	var all []offering
	for _, t := range c.Types() {
		for _, zone := range t.Zones {
			all = append(all, offering{t.Name, "availability-zone", zone})
		}
	}
	a.Offerings, a.NextToken, err = page(all, r.paging, 1000)
	return a, err
}

type describeSpotPriceHistoryRequest struct {
	paging
	InstanceType       []string
	ProductDescription []string
	StartTime          string
}

type describeSpotPriceHistoryAnswer struct {
	Prices    []spotPrice `xml:"spotPriceHistorySet>item"`
	NextToken string      `xml:"nextToken,omitempty"`
}

type spotPrice struct {
	Type    string `xml:"instanceType"`
	Product string `xml:"productDescription"`
	Price   string `xml:"spotPrice"`
	Time    string `xml:"timestamp"`
	Zone    string `xml:"availabilityZone"`
}

// linux is the only product that has prices.
const linux = "Linux/UNIX"

func describeSpotPriceHistory(c *cloud.Cloud, r describeSpotPriceHistoryRequest) (a describeSpotPriceHistoryAnswer,
	err error,
) {
	var all []spotPrice
	if len(r.ProductDescription) > 0 && !slices.Contains(r.ProductDescription, linux) {
		return a, nil
	}
	for _, t := range c.Types() {
		if len(r.InstanceType) > 0 && !slices.Contains(r.InstanceType, t.Name) {
			continue
		}
		for _, zone := range t.Zones {
			price := strconv.FormatFloat(t.SpotPrice(zone), 'f', 6, 64)
			all = append(all, spotPrice{t.Name, linux, price, stamp(time.Now().Truncate(time.Hour)), zone})
		}
	}
	a.Prices, a.NextToken, err = page(all, r.paging, 1000)
	return a, err
}
