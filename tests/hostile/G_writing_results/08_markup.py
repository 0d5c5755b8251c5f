# exercise: 02
# verdict: failed
# tries: HTML, Markdown, XML and rich's markup in exception, type name and print

MARKUP = "</failure><script>alert(1)</script> ]]> <!-- &lt; &#0; | [link](javascript:alert(1)) ![x](http://x) ``` \n# passed\n[bold green]passed[/] {{7*7}} ${7*7}"
Evil = type("</testcase><testcase name='x'/><b>", (Exception,), {})
print(MARKUP)

import torch


def normalize_by_sum(scores):
    raise Evil(MARKUP)

def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum()

def softmax_stable(x, dim=-1):
    largest = x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
