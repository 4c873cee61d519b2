package sdktest

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// facts holds what Karpenter reads of an instance type.
type facts struct {
	arch, manufacturer string
	ghz                float64
	vcpus, cores       int32
	mib                int64
	interfaces, ips    int32
	ebsMbps            int32
	diskGB             int64
	hypervisor         types.InstanceTypeHypervisor
	metal, burstable   bool
	encryptsInTransit  bool
	devices            devices
}

// devices holds the devices of an instance type. cores is per device, only for Neuron.
type devices struct {
	manufacturer, name string
	count, mib, cores  int32
}

func factsOf(i types.InstanceTypeInfo) facts {
	f := facts{
		arch: string(i.ProcessorInfo.SupportedArchitectures[0]), manufacturer: *i.ProcessorInfo.Manufacturer,
		ghz:   *i.ProcessorInfo.SustainedClockSpeedInGhz,
		vcpus: *i.VCpuInfo.DefaultVCpus, cores: *i.VCpuInfo.DefaultCores, mib: *i.MemoryInfo.SizeInMiB,
		interfaces: *i.NetworkInfo.NetworkCards[*i.NetworkInfo.DefaultNetworkCardIndex].MaximumNetworkInterfaces,
		ips:        *i.NetworkInfo.Ipv4AddressesPerInterface, encryptsInTransit: *i.NetworkInfo.EncryptionInTransitSupported,
		ebsMbps: *i.EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps, hypervisor: i.Hypervisor, metal: *i.BareMetal,
		burstable: *i.BurstablePerformanceSupported,
	}
	if i.InstanceStorageInfo != nil {
		f.diskGB = *i.InstanceStorageInfo.TotalSizeInGB
	}
	if i.GpuInfo != nil {
		d := i.GpuInfo.Gpus[0]
		f.devices = devices{*d.Manufacturer, *d.Name, *d.Count, *d.MemoryInfo.SizeInMiB, 0}
	}
	if i.NeuronInfo != nil {
		d := i.NeuronInfo.NeuronDevices[0]
		f.devices = devices{"AWS", *d.Name, *d.Count, *d.MemoryInfo.SizeInMiB, *d.CoreInfo.Count}
	}
	return f
}

func TestInstanceTypes(t *testing.T) {
	for name, want := range map[types.InstanceType]facts{
		"m5.large":   {"x86_64", "Intel", 3.1, 2, 1, 8192, 3, 10, 4750, 0, "nitro", false, false, false, devices{}},
		"m7i.xlarge": {"x86_64", "Intel", 3.2, 4, 2, 16384, 4, 15, 10000, 0, "nitro", false, false, true, devices{}},
		"c6g.medium": {"arm64", "AWS", 2.5, 1, 1, 2048, 2, 4, 4750, 0, "nitro", false, false, false, devices{}},
		"t3.small":   {"x86_64", "Intel", 2.5, 2, 1, 2048, 3, 4, 2085, 0, "nitro", false, true, false, devices{}},
		"m5.metal":   {"x86_64", "Intel", 3.1, 96, 48, 393216, 15, 50, 19000, 0, "", true, false, false, devices{}},
		"i3.large":   {"x86_64", "Intel", 2.3, 2, 1, 15616, 3, 10, 425, 475, "xen", false, false, false, devices{}},
		"g4dn.12xlarge": {
			"x86_64", "Intel", 2.5, 48, 24, 196608, 8, 30, 9500, 900, "nitro", false, false, true,
			devices{"NVIDIA", "T4", 4, 16384, 0},
		},
		"inf1.xlarge": {
			"x86_64", "Intel", 2.5, 4, 2, 8192, 4, 10, 4750, 0, "nitro", false, false, true,
			devices{"AWS", "Inferentia", 1, 8192, 4},
		},
	} {
		t.Run(string(name), func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			out, err := r.ec2.DescribeInstanceTypes(t.Context(),
				&ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{name}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out.InstanceTypes).To(HaveLen(1))
			g.Expect(factsOf(out.InstanceTypes[0])).To(Equal(want))
		})
	}
}

func TestAllInstanceTypes(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	found, pages := collect(t, ec2.NewDescribeInstanceTypesPaginator(r.ec2, &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(7),
		Filters: []types.Filter{
			filter("supported-virtualization-type", "hvm"),
			filter("processor-info.supported-architecture", "x86_64", "arm64"),
		},
	}), func(o *ec2.DescribeInstanceTypesOutput) []types.InstanceTypeInfo { return o.InstanceTypes })
	g.Expect(pages).To(Equal((len(r.Types()) + 6) / 7))
	g.Expect(each(found, func(i types.InstanceTypeInfo) string { return string(i.InstanceType) })).To(
		Equal(each(r.Types(), func(t *cloud.Type) string { return t.Name })))
	for _, i := range found {
		g.Expect(i.SupportedUsageClasses).To(Equal([]types.UsageClassType{"on-demand", "spot"}), string(i.InstanceType))
		g.Expect(i.SupportedVirtualizationTypes).To(Equal([]types.VirtualizationType{types.VirtualizationTypeHvm}))
		g.Expect(i.EbsInfo.EbsOptimizedSupport).To(Equal(types.EbsOptimizedSupportDefault))
		g.Expect(*i.NetworkInfo.MaximumNetworkCards).To(Equal(int32(1)))
		g.Expect(i.InferenceAcceleratorInfo).To(BeNil())
		g.Expect(*i.InstanceStorageSupported).To(Equal(i.InstanceStorageInfo != nil))
		if i.InstanceStorageInfo != nil {
			g.Expect(i.InstanceStorageInfo.NvmeSupport).To(Equal(types.EphemeralNvmeSupportRequired))
		}
	}
}

func TestInstanceTypesFilters(t *testing.T) {
	r := newRegion(t)
	for name, c := range map[string]struct {
		filters []types.Filter
		some    types.InstanceType
		not     types.InstanceType
	}{
		"architecture": {[]types.Filter{filter("processor-info.supported-architecture", "arm64")}, "c6g.large", "c5.large"},
		"metal":        {[]types.Filter{filter("bare-metal", "true")}, "m5.metal", "m5.large"},
		"pattern":      {[]types.Filter{filter("instance-type", "m?.large", "t3.*")}, "m5.large", "m6i.large"},
		"both": {
			[]types.Filter{filter("hypervisor", "nitro"), filter("instance-type", "*.large")},
			"m5.large",
			"i3.large",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := r.ec2.DescribeInstanceTypes(t.Context(),
				&ec2.DescribeInstanceTypesInput{Filters: c.filters, MaxResults: aws.Int32(100)})
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			names := each(out.InstanceTypes, func(i types.InstanceTypeInfo) types.InstanceType { return i.InstanceType })
			g.Expect(names).To(ContainElement(c.some))
			g.Expect(names).NotTo(ContainElement(c.not))
		})
	}
}

func TestOfferings(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	found, pages := collect(t, ec2.NewDescribeInstanceTypeOfferingsPaginator(r.ec2,
		&ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: types.LocationTypeAvailabilityZone, MaxResults: aws.Int32(50),
		}), func(o *ec2.DescribeInstanceTypeOfferingsOutput) []types.InstanceTypeOffering {
		return o.InstanceTypeOfferings
	})
	g.Expect(pages).To(BeNumerically(">", 4))
	zones := map[types.InstanceType][]string{}
	for _, o := range found {
		g.Expect(o.LocationType).To(Equal(types.LocationTypeAvailabilityZone))
		zones[o.InstanceType] = append(zones[o.InstanceType], *o.Location)
	}
	for _, want := range r.Types() {
		g.Expect(zones[types.InstanceType(want.Name)]).To(Equal(want.Zones), want.Name)
	}
	g.Expect(zones).To(HaveLen(len(r.Types())))
}

func TestSpotPrices(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	found, pages := collect(t, ec2.NewDescribeSpotPriceHistoryPaginator(r.ec2, &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}, StartTime: aws.Time(time.Now()),
		MaxResults: aws.Int32(100),
	}), func(o *ec2.DescribeSpotPriceHistoryOutput) []types.SpotPrice { return o.SpotPriceHistory })
	g.Expect(pages).To(BeNumerically(">", 2))
	prices := map[string]string{}
	for _, p := range found {
		g.Expect(prices).NotTo(HaveKey(string(p.InstanceType) + *p.AvailabilityZone))
		g.Expect(*p.Timestamp).To(BeTemporally("~", time.Now(), 61*time.Minute))
		g.Expect(string(p.ProductDescription)).To(Equal("Linux/UNIX"))
		prices[string(p.InstanceType)+*p.AvailabilityZone] = *p.SpotPrice
	}
	for _, want := range r.Types() {
		for _, zone := range want.Zones {
			g.Expect(prices).To(HaveKeyWithValue(want.Name+zone, WithTransform(number, Equal(want.SpotPrice(zone)))))
		}
	}

	none, err := r.ec2.DescribeSpotPriceHistory(t.Context(),
		&ec2.DescribeSpotPriceHistoryInput{ProductDescriptions: []string{"Windows"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none.SpotPriceHistory).To(BeEmpty())
	some, err := r.ec2.DescribeSpotPriceHistory(t.Context(),
		&ec2.DescribeSpotPriceHistoryInput{InstanceTypes: []types.InstanceType{"p3.2xlarge"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(some.SpotPriceHistory).To(HaveLen(1))
}

// number returns the number in a text, or 0 if it is invalid.
func number(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}
