package sdktest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	. "github.com/onsi/gomega"
)

func TestCluster(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c := eks.NewFromConfig(r.config)
	out, err := c.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("plumbline")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Cluster).To(Equal(&ekstypes.Cluster{
		Name: aws.String("plumbline"), Status: ekstypes.ClusterStatusActive, Version: aws.String("1.36"),
		Endpoint: aws.String("https://127.0.0.1:6443"),
		Arn:      aws.String("arn:aws:eks:us-east-1:111122223333:cluster/plumbline"),
		KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{
			ServiceIpv4Cidr: aws.String("10.0.0.0/16"),
			IpFamily:        ekstypes.IpFamilyIpv4,
		},
	}))
	_, err = c.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("other")})
	g.Expect(err).To(BeA[*ekstypes.ResourceNotFoundException]())
	g.Expect(err).To(HaveCode("ResourceNotFoundException"))
}

func TestParameters(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	c := ssm.NewFromConfig(r.config)
	old := "amazon-eks-node-al2023-x86_64-standard-1.36-v20260601"
	newest := "amazon-eks-node-al2023-x86_64-standard-1.36-v20260701"
	paths := map[string]string{}
	for _, path := range []string{
		parameter("x86_64", "standard", "recommended"), parameter("arm64", "standard", "recommended"),
		parameter("x86_64", "nvidia", "recommended"),
		parameter("arm64", "nvidia", "recommended"), parameter("x86_64", "neuron", "recommended"),
		parameter("x86_64", "standard", old),
		strings.Replace(parameter("x86_64", "standard", "recommended"), "1.36", "1.35", 1),
	} {
		out, err := c.GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String(path)})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(*out.Parameter.Name).To(Equal(path))
		g.Expect(*out.Parameter.Value).To(HavePrefix("ami-"))
		g.Expect(out.Parameter.Type).To(Equal(ssmtypes.ParameterTypeString))
		g.Expect(paths).NotTo(HaveKey(*out.Parameter.Value), path)
		paths[*out.Parameter.Value] = path
	}
	out, err := c.GetParameter(t.Context(),
		&ssm.GetParameterInput{Name: aws.String(parameter("x86_64", "standard", newest))})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).To(HaveKeyWithValue(*out.Parameter.Value, parameter("x86_64", "standard", "recommended")))

	r.Release()
	out, err = c.GetParameter(t.Context(),
		&ssm.GetParameterInput{Name: aws.String(parameter("x86_64", "standard", "recommended"))})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).NotTo(HaveKey(*out.Parameter.Value))
	for _, path := range []string{
		"/aws/service/other", parameter("arm64", "neuron", "recommended"),
		parameter("x86_64", "standard", "amazon-eks-node-al2023-x86_64-standard-1.36-v20250101"),
	} {
		_, err = c.GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String(path)})
		g.Expect(err).To(BeA[*ssmtypes.ParameterNotFound](), path)
		g.Expect(err).To(HaveCode("ParameterNotFound"))
	}
}

// priceItem holds the fields that Karpenter reads from an entry of the price list.
type priceItem struct {
	Product struct{ Attributes struct{ InstanceType string } }
	Terms   struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct{ PricePerUnit map[string]string }
		}
	}
}

func TestPrices(t *testing.T) {
	for name, c := range map[string]struct {
		tenancy, family string
		metal           bool
	}{
		"shared": {"Shared", "Compute Instance", false},
		"metal":  {"Dedicated", "Compute Instance (bare metal)", true},
	} {
		t.Run(name, func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			in := &pricing.GetProductsInput{
				ServiceCode: aws.String("AmazonEC2"), MaxResults: aws.Int32(1),
				Filters: productFilters(
					"regionCode", "us-east-1", "serviceCode", "AmazonEC2", "preInstalledSw", "NA", "operatingSystem", "Linux",
					"capacitystatus", "Used",
					"marketoption", "OnDemand", "tenancy", c.tenancy, "productFamily", c.family,
				),
			}
			entries, pages := collect(t, pricing.NewGetProductsPaginator(pricing.NewFromConfig(r.config), in),
				func(o *pricing.GetProductsOutput) []string { return o.PriceList })
			g.Expect(pages).To(Equal(len(entries)))
			prices := map[string]float64{}
			for _, entry := range entries {
				var item priceItem
				g.Expect(json.Unmarshal([]byte(entry), &item)).To(Succeed())
				for _, term := range item.Terms.OnDemand {
					for _, dimension := range term.PriceDimensions {
						prices[item.Product.Attributes.InstanceType] = number(dimension.PricePerUnit["USD"])
					}
				}
			}
			want := map[string]float64{}
			for _, t := range r.Types() {
				if t.Metal() == c.metal {
					want[t.Name] = t.Price
				}
			}
			g.Expect(prices).To(Equal(want))
			g.Expect(entries).To(HaveLen(len(want)))
		})
	}
}

func TestPricesOfOthers(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	out, err := pricing.NewFromConfig(r.config).GetProducts(t.Context(), &pricing.GetProductsInput{
		ServiceCode: aws.String("AmazonEC2"), Filters: productFilters("operatingSystem", "Windows"),
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.PriceList).To(BeEmpty())
}

func productFilters(pairs ...string) (filters []pricingtypes.Filter) {
	for n := 0; n < len(pairs); n += 2 {
		filters = append(filters, pricingtypes.Filter{
			Field: aws.String(pairs[n]), Type: pricingtypes.FilterTypeTermMatch,
			Value: aws.String(pairs[n+1]),
		})
	}
	return filters
}
