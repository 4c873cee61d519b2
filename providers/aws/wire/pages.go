package wire

import (
	"net/http"
	"strconv"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// paging holds the parameters that all requests for lists share.
type paging struct {
	MaxResults int
	NextToken  string
}

// page returns the requested page of a list, and the token of the next page, empty after the
// last. most is the size of a page without MaxResults.
func page[T any](all []T, p paging, most int) (part []T, next string, err error) {
	from := 0
	if p.NextToken != "" {
		if from, err = strconv.Atoi(p.NextToken); err != nil || from < 0 || from > len(all) {
			return nil, "", &cloud.Error{
				Code: "InvalidPaginationToken", Message: "The specified pagination token is not valid.",
				Status: http.StatusBadRequest,
			}
		}
	}
	if p.MaxResults > 0 {
		most = p.MaxResults
	}
	to := min(from+most, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next, nil
}

// describe returns the requested page of a list, with each element converted by as, and the
// token of the next page. err is the error of getting the list. If set, it is returned.
func describe[T, D any](all []T, err error, p paging, most int, as func(T) D) (described []D, next string, _ error) {
	if err != nil {
		return nil, "", err
	}
	part, next, err := page(all, p, most)
	for _, x := range part {
		described = append(described, as(x))
	}
	return described, next, err
}
