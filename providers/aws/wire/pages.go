package wire

import (
	"net/http"
	"strconv"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// paging is what requests for lists have in common.
type paging struct {
	MaxResults int
	NextToken  string
}

// page is the part of a list that a request asks for, and the token of the next part, empty
// after the last. Most is how many an action answers if it isn't told.
func page[T any](all []T, p paging, most int) (part []T, next string, err error) {
	from := 0
	if p.NextToken != "" {
		if from, err = strconv.Atoi(p.NextToken); err != nil || from < 0 || from > len(all) {
			return nil, "", &cloud.Error{Code: "InvalidPaginationToken", Message: "The specified pagination token is not valid.", Status: http.StatusBadRequest}
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

// describe is the page of a list that a request asks for, each element as the answer has it,
// and the token of the next page. The error is that of getting the list, if there was one.
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
