"""Hash handwritten digits to 32 bits and retrieve by Hamming distance, with a picture of queries and what they find.

python examples/hashing_digits.py [picture.png]
"""

import sys

import numpy as np

try:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
except ImportError:
    sys.exit('Hashing needs scikit-learn: pip install "flipwise[hashing]"')

from flipwise.hashing import SDH, hamming_search, mean_average_precision

# %% 1,797 images of 8 x 8 pixels that come with scikit-learn; 100 are queries.
digits = load_digits()
train, query, train_labels, query_labels = train_test_split(
    digits.data / 16.0, digits.target, test_size=100, random_state=0, stratify=digits.target
)

# %% Learn 32-bit codes from the labels; 4 bytes an image instead of 512.
model = SDH(n_bits=32, random_state=0).fit(train, train_labels)
database, asked = model.encode(train), model.encode(query)
print(f"{database.packed.nbytes / len(train):.0f} bytes an image")

# %% Judge: mean average precision of ranking the database for each query.
quality = mean_average_precision(asked, database, query_labels, train_labels)
print(f"MAP {quality:.3f}")

# %% The ten nearest of each query.
nearest = hamming_search(asked, database, 10).ids
share = (train_labels[nearest] == query_labels[:, None]).mean()
print(f"{100 * share:.1f} % of the ten nearest show the same digit")
assert share > 0.8

# %% A picture: queries on the left, what they find on the right.
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit('No picture without matplotlib: pip install "flipwise[plot]"')

rows = [int(np.flatnonzero(query_labels == digit)[0]) for digit in range(6)]
figure, axes = plt.subplots(len(rows), 9, figsize=(7, 5), layout="constrained")
for row, q in zip(axes, rows, strict=True):
    row[0].imshow(query[q].reshape(8, 8), cmap="Blues")
    for cell, found in zip(row[1:], nearest[q], strict=False):
        cell.imshow(train[found].reshape(8, 8), cmap="Greys" if train_labels[found] == query_labels[q] else "Reds")
    for cell in row:
        cell.axis("off")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "hashing_digits.png", dpi=120)
